#include "graph/entry_points.h"

#include <algorithm>

#include "base/error.h"

namespace farvec::graph {

std::vector<NodeId> spread_ids(std::size_t count, std::size_t sample) {
  if (sample > count) throw Error("{} of {} vertices cannot be had", sample, count);
  std::vector<NodeId> ids;
  for (std::size_t i = 0; i < sample; ++i) ids.push_back(static_cast<NodeId>(count * i / sample));
  return ids;
}

std::vector<NodeId> spread_entries(NodeId first, std::size_t count, std::size_t most) {
  std::vector<NodeId> entries;
  if (count == 0) return entries;
  if (first >= count) throw Error("the entry point {} is beyond the {} vertices", first, count);
  entries.push_back(first);
  const std::vector<NodeId> ids = spread_ids(count, std::min(count, most) - 1);
  entries.insert(entries.end(), ids.begin(), ids.end());
  return entries;
}

}  // namespace farvec::graph
