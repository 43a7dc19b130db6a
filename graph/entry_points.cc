#include "graph/entry_points.h"

#include <algorithm>

namespace farvec::graph {
namespace {

/// 64 and more cost more estimates than they save hops.
constexpr std::size_t kEntries = 32;

}  // namespace

std::vector<NodeId> spread_entries(NodeId first, std::size_t count) {
  std::vector<NodeId> entries;
  if (count == 0) return entries;
  entries.push_back(first);
  const std::size_t others = std::min(count, kEntries) - 1;
  for (std::size_t i = 0; i < others; ++i) {
    entries.push_back(static_cast<NodeId>(count * i / others));
  }
  return entries;
}

}  // namespace farvec::graph
