// The id map is a radix tree of pages that leads from an id to the place of its vertex.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory.h"
#include "base/status.h"
#include "base/types.h"
#include "layout/hnsw/hnsw_shape.h"

namespace farvec::layout {

/// Every page of the tree has one tuple, at slot 0: places on leaves, page numbers above them, all
/// ones where there is none. The tag of a page is its height above the leaves.
struct IdMapShape {
  std::uint32_t page_bytes = 8192;

  /// Bits of an id that one page resolves: 9 with 4 KiB, 12 with 32 KiB.
  std::uint32_t bits() const {
    return static_cast<std::uint32_t>(std::countr_zero(page_bytes)) - 3;
  }
  std::uint32_t fanout() const { return 1u << bits(); }
  std::uint32_t tuple_bytes(std::uint32_t height) const { return fanout() * entry_bytes(height); }
  static std::uint32_t entry_bytes(std::uint32_t height) {
    return height == 0 ? HnswPlace::kBytes : static_cast<std::uint32_t>(sizeof(PageNumber));
  }
  /// Says whether a tree whose root has this height has a place for the id.
  bool reaches(std::uint32_t height, NodeId id) const {
    const std::uint32_t known = bits() * (height + 1);
    return known >= 32 || (id >> known) == 0;
  }
  /// Returns the id's offset in the tuple of a page of this height.
  std::uint32_t offset(std::uint32_t height, NodeId id) const {
    return ((id >> (bits() * height)) & (fanout() - 1)) * entry_bytes(height);
  }
};

/// Returns the tuple of a page of the tree; data_loss when the page is not one of this height.
Result<std::span<const std::byte>> id_map_tuple(const IdMapShape& shape,
                                                std::span<const std::byte> page,
                                                std::uint32_t height);

}  // namespace farvec::layout
