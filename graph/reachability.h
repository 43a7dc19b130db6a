// Checks that every vertex can be reached from the entry, and repairs the graph where that is not
// so.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/build_space.h"
#include "graph/graph.h"

namespace farvec::graph {

/// Returns one flag per vertex: whether it is reachable from graph.entry along edges.
std::vector<bool> reachable_vertices(const Graph& graph);

/// Gives every unreachable one of the first `vertices` an in-edge from a near reachable one, within
/// `degree` edges per vertex: an edge is replaced only when the breadth-first tree from the entry
/// does not use it. A vertex gives up an eighth of its edges for that, at least one, and more only
/// where the vertices around have none to give. Returns how many edges it added. Afterwards all of
/// them are reachable (CHECKed).
std::uint64_t make_reachable(Graph& graph, const BuildSpace& space, std::uint32_t degree,
                             std::size_t vertices);

}  // namespace farvec::graph
