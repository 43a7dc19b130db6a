// Makes a graph from lists of neighbours that are stored one after another, which is how indexes
// store small graphs.
#pragma once

#include <cstdint>
#include <span>

#include "base/types.h"
#include "graph/graph.h"

namespace farvec::graph {

/// Vertex v has the next degrees[v] ids of `neighbors`, whose length is the sum of all degrees. No
/// degree is above `max_degree`.
Graph listed_graph(std::span<const std::uint32_t> degrees, std::span<const NodeId> neighbors,
                   std::uint32_t max_degree, NodeId entry);

}  // namespace farvec::graph
