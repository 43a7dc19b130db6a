#include "graph/entry_points.h"

#include <algorithm>

#include "base/error.h"

namespace farvec::graph {

std::vector<NodeId> spread_entries(NodeId first, std::size_t count, std::size_t most) {
  std::vector<NodeId> entries;
  if (count == 0) return entries;
  if (first >= count) throw Error("the entry point {} is beyond the {} vertices", first, count);
  entries.push_back(first);
  const std::size_t others = std::min(count, most) - 1;
  for (std::size_t i = 0; i < others; ++i) {
    entries.push_back(static_cast<NodeId>(count * i / others));
  }
  return entries;
}

}  // namespace farvec::graph
