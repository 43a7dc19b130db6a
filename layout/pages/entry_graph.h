// An EntryGraph is the graph over a sample of the vertices that finds where a search of slotted
// pages starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/memory.h"
#include "base/node_record.h"
#include "base/types.h"

namespace farvec::layout {

struct EntryGraphShape {
  static constexpr std::uint32_t kMostVertices = 1u << 20;
  static constexpr std::uint32_t kMostDegree = 64;

  std::uint32_t vertices = 0;  ///< vertices in the sample
  std::uint32_t degree = 0;    ///< largest degree
  NodeId entry = kInvalidNode;

  /// Returns the bytes of ids, degrees, and a row of `degree` neighbours for each vertex.
  std::uint64_t payload_bytes() const {
    return std::uint64_t{vertices} * (2 + std::uint64_t{degree}) * sizeof(std::uint32_t);
  }
};

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
