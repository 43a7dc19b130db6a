// A graph from lists of neighbours that lie one after another, as indexes store small ones.
#pragma once

#include <cstdint>
#include <span>

#include "base/types.h"
#include "graph/graph.h"

namespace farvec::graph {

/// Vertex v has the next degrees[v] of `neighbors`, which has as many as all together; no degree is
/// above `max_degree`.
Graph listed_graph(std::span<const std::uint32_t> degrees, std::span<const NodeId> neighbors,
                   std::uint32_t max_degree, NodeId entry);

}  // namespace farvec::graph
