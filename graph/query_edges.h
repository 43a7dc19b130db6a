// Edges for queries that come from elsewhere than the rows, chosen by examples of them.
#pragma once

#include <cstdint>

#include "graph/build_space.h"
#include "graph/graph.h"
#include "graph/vamana_builder.h"

namespace farvec::graph {

struct QueryEdges {
  std::uint64_t edges = 0;      ///< added
  std::uint64_t distances = 0;  ///< computed
};

/// What is nearest to a query may lie far apart, where queries are no neighbours of rows: texts
/// beside pictures, or products with long rows. A search then leaves one answer without an edge to
/// the next. For each of options.sample_queries, in their order, the graph is searched, and the
/// answers get edges until ways through the nearest ones alone lead from each of them to each (the
/// ideas: Chen et al., RoarGraph, VLDB 2024; Hua et al., NGFix, SIGMOD 2026). An edge takes the
/// place of the last one of a full list, and at most half of a list goes to such edges.
///
/// `graph` has at most options.degree edges a vertex, before and after; not every vertex need be
/// reachable afterwards. The same for any number of threads. Throws WorkInterrupted.
QueryEdges add_query_edges(Graph& graph, const BuildSpace& space, Metric metric,
                           const VamanaOptions& options);

}  // namespace farvec::graph
