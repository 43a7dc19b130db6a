// Which vertices too many others lead to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "graph/graph.h"

namespace farvec::graph {

/// Counts how often each vertex was chosen as a neighbour. A vertex of R edges that stands for
/// others in the lists of far more than R vertices should send the searches of all of these on,
/// and cannot: it is a hub, and stands for none but those that lie right beside it (see
/// RobustPrune). A row at the mean of the others is the usual case. Threads may ask at the same
/// time, while nobody counts.
class Hubs {
 public:
  /// Hubs of `count` vertices with up to `degree` edges; none so far.
  Hubs(std::size_t count, std::uint32_t degree);

  /// Counts the edges of `graph`, and nothing else.
  void recount(const Graph& graph);
  /// A vertex that chose `former` has chosen `now` instead.
  void replace(std::span<const NodeId> former, std::span<const NodeId> now);

  bool contains(NodeId v) const { return chosen_[v] > most_; }

 private:
  /// A hub is chosen more often than a vertex with this many times the degree of edges leads on,
  /// and by more than one in so many vertices. Large sets have vertices in the midst of many
  /// others, which are chosen a thousand times and do lead on to where those wanted to go.
  static constexpr std::uint32_t kDegrees = 8;
  static constexpr std::size_t kOneIn = 128;

  std::vector<std::uint32_t> chosen_;
  std::uint32_t most_;
};

}  // namespace farvec::graph
