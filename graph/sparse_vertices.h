// Counts the vertices whose lists came out short.
#pragma once

#include <cstddef>
#include <cstdint>

#include "graph/graph.h"

namespace farvec::graph {

/// Returns the number of vertices with fewer than half of the `degree` edges that a build was to
/// give them. Pruning fills lists that are this short (RobustPrune), so there was nothing to fill
/// them with: rows are few, or equal to others.
inline std::uint64_t sparse_vertices(const Graph& graph, std::uint32_t degree) {
  std::uint64_t sparse = 0;
  for (std::size_t v = 0; v < graph.count(); ++v) {
    sparse += 2 * graph.neighbors(v).size() < degree ? 1 : 0;
  }
  return sparse;
}

}  // namespace farvec::graph
