// NodeRecord, AdjacencyView and SampledGraphView are the shapes in which rooms hand a graph to each
// other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory.h"
#include "base/types.h"

namespace farvec {

/// A NodeRecord is one vertex of a graph in fetched bytes: parsed in place by layout/, read by
/// graph/. Neither pointer is aligned. Valid until the source that handed it out returns or
/// suspends.
struct NodeRecord {
  /// dimension elements; null where the neighbours alone were asked for
  const std::byte* vector = nullptr;
  const std::byte* neighbors = nullptr;  ///< degree ids, 4 bytes each, little-endian
  std::uint32_t degree = 0;
  const std::byte* codes = nullptr;  ///< codes of the neighbours; null where the layout has none
  /// The vertex's row in the data set where vertices are numbered in another order; else
  /// kInvalidNode.
  NodeId row = kInvalidNode;

  NodeId neighbor(std::uint32_t i) const {
    return load_unaligned<NodeId>(neighbors + std::size_t{i} * sizeof(NodeId));
  }
};

/// An AdjacencyView is a built graph in local memory that something else owns: row v holds
/// degrees[v] neighbour ids in a slot of `row_capacity` ids. Produced by graph/, encoded by
/// layout/.
struct AdjacencyView {
  const NodeId* neighbors = nullptr;
  const std::uint32_t* degrees = nullptr;
  std::size_t count = 0;
  std::uint32_t row_capacity = 0;
  NodeId entry = kInvalidNode;

  const NodeId* row(std::size_t v) const { return neighbors + v * row_capacity; }
};

/// A SampledGraphView is a graph over some of an index's vertices, in local memory that something
/// else owns: row i belongs to vertex ids[i], and ids ascend. Neighbours and the entry are ids of
/// the index; all of them are in `ids`.
struct SampledGraphView {
  std::span<const NodeId> ids;
  AdjacencyView graph;
};

}  // namespace farvec
