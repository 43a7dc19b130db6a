// Pages of vertices, made by hand.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "layout/hnsw/hnsw_vertex.h"
#include "layout/store/page_change.h"
#include "layout/store/store_page.h"

namespace farvec::layout::testing {

struct HnswPage {
  explicit HnswPage(const HnswShape& of, HnswPageKind kind = HnswPageKind::vertices)
      : shape(of), bytes(of.page_bytes) {
    format_page(bytes, 1);
    PageChange init;
    init.kind = static_cast<std::uint16_t>(kind);
    init.next = kNoPage;
    EXPECT_TRUE(layout::apply_change(bytes, init).ok());
  }
  Status put(std::uint16_t slot, std::span<const std::byte> tuple) {
    PageChange change;
    change.change = ChangeKind::put;
    change.slot = slot;
    change.bytes = tuple;
    return layout::apply_change(bytes, change);
  }
  Status erase(std::uint16_t slot) {
    PageChange change;
    change.change = ChangeKind::erase;
    change.slot = slot;
    return layout::apply_change(bytes, change);
  }
  /// At the next two slots, without neighbours; false when it does not fit.
  bool add(NodeId id, std::uint8_t level, const std::vector<std::byte>& vector) {
    const auto slot = static_cast<std::uint16_t>(StorePage(bytes).slots());
    const auto next = static_cast<std::uint16_t>(slot + 1);
    std::vector<std::byte> element(shape.element_bytes());
    encode_element(shape, {.level = level, .id = id, .neighbors = next}, vector.data(), element);
    std::vector<std::byte> neighbors(shape.neighbors_bytes(level));
    encode_no_neighbors({.level = level, .element = slot}, neighbors);
    return put(slot, element).ok() && put(next, neighbors).ok();
  }
  Result<HnswVertex> vertex(std::uint16_t slot) const {
    return HnswVertex::parse(shape, bytes, slot);
  }
  HnswShape shape;
  std::vector<std::byte> bytes;
};

}  // namespace farvec::layout::testing
