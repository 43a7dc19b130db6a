// Where searches of a graph start.
#pragma once

#include <cstddef>
#include <vector>

#include "base/types.h"

namespace farvec::graph {

/// `sample` of `count` ids, evenly spread, ascending. Throws Error when there are not as many.
std::vector<NodeId> spread_ids(std::size_t count, std::size_t sample);

/// 64 and more cost more estimates than they save hops.
inline constexpr std::size_t kEntries = 32;

/// The entry of the graph, from which all is reachable, and others, evenly spread, up to `most`:
/// they cost estimates from codes that every search keeps in the cache, and save the first hops.
/// None for no vertices. Throws Error when `first` is not one of the `count`.
std::vector<NodeId> spread_entries(NodeId first, std::size_t count, std::size_t most = kEntries);

}  // namespace farvec::graph
