// Finds an order of the vertices in which neighbours have numbers near each other. Source:
// Dhulipala, Kabiljo, Karrer, Ottaviano, Pupyrev, Shalita, "Compressing graphs and indexes with
// recursive graph bisection" (KDD 2016); our own code.
#pragma once

#include <span>
#include <vector>

#include "base/progress.h"
#include "base/types.h"
#include "graph/graph.h"

namespace farvec::graph {

struct OrderOptions {
  unsigned threads = 0;  ///< see resolve_threads(); the order does not depend on it
  bool quiet = false;    ///< no progress line
  Interruption interrupted = {};
};

/// Returns the vertices in the order in which they should be numbered: element i is the number in
/// `graph` of the vertex that gets the new number i. Halves of the vertices, and halves of those,
/// are chosen so that the neighbours of a vertex are in few of them, which makes the differences in
/// its sorted list small. Every vertex has fewer than 2^16 neighbours. Memory while it runs: two
/// copies of the graph, and per vertex 24 bytes and 12 for each thread.
std::vector<NodeId> bisection_order(const AdjacencyView& graph, const OrderOptions& options = {});

/// Returns the same graph with its vertices in the given order; every list ascends. `order` has
/// each vertex once.
Graph reordered(const AdjacencyView& graph, std::span<const NodeId> order, unsigned threads = 0);

}  // namespace farvec::graph
