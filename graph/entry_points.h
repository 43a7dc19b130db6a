// Where searches of a graph start.
#pragma once

#include <cstddef>
#include <vector>

#include "base/types.h"

namespace farvec::graph {

/// The entry of the graph, from which all is reachable, and a few vertices more, evenly spread:
/// they cost estimates from codes that every search keeps in the cache, and save the first hops.
std::vector<NodeId> spread_entries(NodeId first, std::size_t count);

}  // namespace farvec::graph
