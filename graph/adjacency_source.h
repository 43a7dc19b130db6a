// An AdjacencySource is a NodeSource over a graph in local memory, for graphs under construction
// and graphs kept in DRAM.
#pragma once

#include <cstdint>
#include <span>

#include "base/memory.h"
#include "base/node_record.h"
#include "base/status.h"
#include "graph/graph.h"

namespace farvec::graph {

/// Records are adjacency rows and carry no vector. Never suspends.
struct AdjacencySource {
  const Graph& graph;

  void expect(NodeId id) const { prefetch_line(graph.neighbors(id).data()); }

  template <typename Visit>
  Status expand(std::span<const NodeId> frontier, Visit&& visit) {
    for (NodeId id : frontier) {
      const auto row = graph.neighbors(id);
      visit(id, NodeRecord{nullptr, reinterpret_cast<const std::byte*>(row.data()),
                           static_cast<std::uint32_t>(row.size())});
    }
    return {};
  }
};

}  // namespace farvec::graph
