// Hubs finds the vertices to which too many others lead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "graph/graph.h"

namespace farvec::graph {

/// Counts how often each vertex was chosen as a neighbour. A vertex with R edges that stands for
/// other vertices in the lists of far more than R vertices would have to send on the searches of
/// all of these, and cannot. It is a hub, and stands only for vertices right beside it (see
/// RobustPrune). A row at the mean of the other rows is the usual case. Threads may call contains()
/// at the same time while no thread counts.
class Hubs {
 public:
  /// For `count` vertices with up to `degree` edges; there are no hubs yet.
  Hubs(std::size_t count, std::uint32_t degree);

  /// Counts the edges of `graph`, and nothing else.
  void recount(const Graph& graph);
  /// Records that a vertex that chose `former` has chosen `now` instead.
  void replace(std::span<const NodeId> former, std::span<const NodeId> now);

  bool contains(NodeId v) const { return chosen_[v] > most_; }

 private:
  /// A hub is chosen more often than kDegrees times the degree, the number of edges by which a
  /// vertex leads on, and by more than one in kOneIn vertices. Large sets have vertices in the
  /// midst of many others, which are chosen a thousand times and do lead searches on to their
  /// goals.
  static constexpr std::uint32_t kDegrees = 8;
  static constexpr std::size_t kOneIn = 128;

  std::vector<std::uint32_t> chosen_;
  std::uint32_t most_;
};

}  // namespace farvec::graph
