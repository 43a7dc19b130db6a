// A PageEncoder turns a built graph, its payloads and a plan into the bytes of slotted pages.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/node_record.h"
#include "base/types.h"
#include "layout/pages/page_plan.h"
#include "layout/pages/slotted_geometry.h"

namespace farvec::layout {

/// Row v holds the payload of vertex v; rows are `stride_bytes` apart. Borrows.
struct PayloadView {
  const std::byte* data = nullptr;
  std::size_t stride_bytes = 0;

  const std::byte* row(std::size_t v) const { return data + v * stride_bytes; }
};

/// Encodes any run of pages by itself, so that a writer streams and threads share the work. Borrows
/// everything it is given. The plan must have passed pages_of() with this graph's costs.
class PageEncoder {
 public:
  PageEncoder(const SlottedGeometry& geometry, const AdjacencyView& graph,
              const PayloadView& payloads, const PagePlan& plan)
      : geometry_(geometry), graph_(graph), payloads_(payloads), plan_(plan) {}

  /// Writes pages [begin, end) to `out`, page_bytes each. Any thread.
  void encode(std::size_t begin, std::size_t end, std::span<std::byte> out) const;

 private:
  struct Entry {
    NodeId id;
    std::uint8_t color;
  };
  void encode_page(std::size_t page, std::span<std::byte> out) const;
  std::vector<Entry> entries_of(std::size_t page) const;

  const SlottedGeometry geometry_;
  const AdjacencyView graph_;
  const PayloadView payloads_;
  const PagePlan& plan_;
};

}  // namespace farvec::layout
