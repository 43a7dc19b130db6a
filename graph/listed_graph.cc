#include "graph/listed_graph.h"

#include <algorithm>

namespace farvec::graph {

Graph listed_graph(std::span<const std::uint32_t> degrees, std::span<const NodeId> neighbors,
                   std::uint32_t max_degree, NodeId entry) {
  Graph graph(degrees.size(), std::max(max_degree, 1u));
  for (std::size_t v = 0; v < degrees.size(); ++v) {
    graph.set_neighbors(v, neighbors.first(degrees[v]));
    neighbors = neighbors.subspan(degrees[v]);
  }
  graph.entry = entry;
  return graph;
}

}  // namespace farvec::graph
