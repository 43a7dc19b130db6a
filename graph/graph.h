// A Graph is a directed graph of bounded degree in local memory. Builds make it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/memory.h"
#include "base/node_record.h"

namespace farvec::graph {

/// Holds `count` rows of at most `row_capacity` neighbour ids. Rows may be written by different
/// threads.
class Graph {
 public:
  Graph(std::size_t count, std::uint32_t row_capacity)
      : neighbors_(count * row_capacity * sizeof(NodeId)),
        degrees_(count, 0),
        row_capacity_(row_capacity) {}

  std::size_t count() const { return degrees_.size(); }
  std::uint32_t row_capacity() const { return row_capacity_; }

  std::span<const NodeId> neighbors(std::size_t v) const { return {row(v), degrees_[v]}; }

  void set_neighbors(std::size_t v, std::span<const NodeId> ids) {
    FARVEC_CHECK(ids.size() <= row_capacity_);
    std::copy(ids.begin(), ids.end(), row(v));
    degrees_[v] = static_cast<std::uint32_t>(ids.size());
  }
  void append_neighbor(std::size_t v, NodeId id) {
    FARVEC_CHECK(degrees_[v] < row_capacity_);
    row(v)[degrees_[v]++] = id;
  }

  NodeId entry = kInvalidNode;

  AdjacencyView view() const { return {row(0), degrees_.data(), count(), row_capacity_, entry}; }

 private:
  NodeId* row(std::size_t v) {
    return reinterpret_cast<NodeId*>(neighbors_.data()) + v * row_capacity_;
  }
  const NodeId* row(std::size_t v) const {
    return reinterpret_cast<const NodeId*>(neighbors_.data()) + v * row_capacity_;
  }

  HugeBuffer neighbors_;
  std::vector<std::uint32_t> degrees_;
  std::uint32_t row_capacity_;
};

/// Copies a graph. Graphs are large, so a copy has to be asked for by name.
inline Graph copy_of(const Graph& graph) {
  Graph copy(graph.count(), graph.row_capacity());
  for (std::size_t v = 0; v < graph.count(); ++v) copy.set_neighbors(v, graph.neighbors(v));
  copy.entry = graph.entry;
  return copy;
}

}  // namespace farvec::graph
