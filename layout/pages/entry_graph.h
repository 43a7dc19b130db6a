// An EntryGraph is the graph over a sample of the vertices that finds where a search of slotted
// pages starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/memory.h"
#include "base/node_record.h"
#include "base/types.h"
#include "layout/pages/entry_graph_shape.h"

namespace farvec::layout {

/// Immutable; owns the region's bytes.
class EntryGraph {
 public:
  /// Takes over a region, header included, wherever it came from. Throws Error, naming `source`,
  /// when it is not a graph of this shape over vertices of an index with `count` vertices.
  EntryGraph(HugeBuffer region, const EntryGraphShape& shape, std::uint64_t count,
             std::string_view source);

  SampledGraphView view() const;
  std::size_t dram_bytes() const { return region_.size(); }

 private:
  HugeBuffer region_;
  EntryGraphShape shape_;
};

}  // namespace farvec::layout
