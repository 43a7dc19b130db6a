// Adds edges for queries that do not come from where the rows come from, chosen with examples of
// such queries.
#pragma once

#include <cstdint>

#include "graph/build_space.h"
#include "graph/graph.h"
#include "graph/vamana_builder.h"

namespace farvec::graph {

struct QueryEdges {
  std::uint64_t edges = 0;      ///< edges added
  std::uint64_t distances = 0;  ///< distances computed
};

/// The rows nearest to a query may be far apart where queries are not neighbours of rows: texts
/// beside pictures, or products with long rows. A search then reaches one answer and finds no edge
/// to the next. For each of options.sample_queries, in their order, the graph is searched. Its
/// answers get edges until each answer leads to each other one by ways through the nearest answers
/// alone (the ideas: Chen et al., RoarGraph, VLDB 2024; Hua et al., NGFix, SIGMOD 2026). A new edge
/// takes the place of the last edge of a full list, and at most half of a list is such edges.
///
/// `graph` has at most options.degree edges per vertex, before and after; some vertices may be
/// unreachable afterwards. The result is the same for any number of threads. Throws
/// WorkInterrupted.
QueryEdges add_query_edges(Graph& graph, const BuildSpace& space, Metric metric,
                           const VamanaOptions& options);

}  // namespace farvec::graph
