// Chooses where searches of a graph start.
#pragma once

#include <cstddef>
#include <vector>

#include "base/types.h"

namespace farvec::graph {

/// Returns `sample` of `count` ids, evenly spread, ascending. Throws Error when there are not as
/// many.
std::vector<NodeId> spread_ids(std::size_t count, std::size_t sample);

/// 64 and more entries cost more estimates than they save hops.
inline constexpr std::size_t kEntries = 32;

/// Returns the entry of the graph, from which all vertices are reachable, and other vertices,
/// evenly spread, up to `most` in all. They cost estimates from codes that every search keeps in
/// the cache, and save the first hops. Empty when there are no vertices. Throws Error when `first`
/// is not one of the `count`.
std::vector<NodeId> spread_entries(NodeId first, std::size_t count, std::size_t most = kEntries);

}  // namespace farvec::graph
