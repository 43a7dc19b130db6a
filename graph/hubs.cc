#include "graph/hubs.h"

#include <algorithm>

namespace farvec::graph {

Hubs::Hubs(std::size_t count, std::uint32_t degree)
    : chosen_(count, 0),
      most_(std::max(kDegrees * degree, static_cast<std::uint32_t>(count / kOneIn))) {}

void Hubs::recount(const Graph& graph) {
  std::fill(chosen_.begin(), chosen_.end(), 0);
  for (std::size_t v = 0; v < graph.count(); ++v) replace({}, graph.neighbors(v));
}

void Hubs::replace(std::span<const NodeId> former, std::span<const NodeId> now) {
  // Edges that others added to the list were never counted, so a count may be 0.
  for (const NodeId id : former) chosen_[id] -= chosen_[id] > 0 ? 1 : 0;
  for (const NodeId id : now) ++chosen_[id];
}

}  // namespace farvec::graph
