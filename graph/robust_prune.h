// RobustPrune chooses up to R diverse neighbours from a candidate set.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/build_space.h"
#include "graph/candidate_list.h"
#include "graph/hubs.h"

namespace farvec::graph {

struct PruneParameters {
  std::uint32_t degree = 32;  ///< R
  float alpha = 1.2f;         ///< applies to distances, not to their squares
};

/// Chooses neighbours. It holds the working memory of one thread, so one thread at a time uses it.
class RobustPrune {
 public:
  /// Borrows all but the parameters. Without `hubs` no vertex counts as a hub.
  RobustPrune(const BuildSpace& space, PruneParameters parameters, const Hubs* hubs = nullptr)
      : space_(space), parameters_(parameters), hubs_(hubs) {}

  /// Chooses neighbours for vertex `v` from `candidates` (any order, duplicates and v itself
  /// allowed; it is sorted in place). A candidate c is dropped when a kept neighbour k, nearer to v
  /// than c, has alpha * d(k, c) <= d(v, c). It starts with alpha = 1, then uses parameters.alpha
  /// for the room that is left, like the ramp in DiskANN's code, so that the shortest diverse edges
  /// are always kept. A list that is then shorter than half of the degree goes on with ever larger
  /// alpha up to that half, and so first takes what adds most directions. No list takes two equal
  /// rows. The result is valid until the next call, in the order in which the edges were kept.
  ///
  /// A hub k drops c only where 2 * d(k, c) <= d(v, c).
  ///
  /// With products, k drops c when <k, c> >= <v, c>, as in an HNSW graph, and lists are filled up
  /// to the degree: alpha * <v, c> <= <k, c> with ever larger alpha. A k with a larger product with
  /// v than v has with itself drops only candidates that have one too.
  const std::vector<NodeId>& run(NodeId v, std::vector<Neighbor>& candidates);
  /// Does the same for candidates whose distances from `v` are yet to be computed.
  const std::vector<NodeId>& run(NodeId v, std::span<const NodeId> candidates);
  /// Returns the edges that `v` keeps, at most `degree`, followed by edges to those of `candidates`
  /// (none of them in `chosen`; duplicates and v itself allowed) that fit beside them by the same
  /// rule.
  const std::vector<NodeId>& extend(NodeId v, std::span<const NodeId> chosen,
                                    std::span<const NodeId> candidates);

  /// Returns the number of distances computed so far.
  std::uint64_t distances() const { return distances_; }

 private:
  struct Kept {
    Neighbor neighbor;
    bool duplicate;  ///< the vertex that is pruned is no nearer to itself
    bool hub;
  };
  struct State {
    std::uint32_t checked = 0;  ///< how many kept neighbours this candidate was compared with
    float ratio = 0;            ///< largest BuildSpace::occlusion() seen
    bool kept = false;
  };

  void measure(NodeId v, std::span<const NodeId> ids, std::vector<Neighbor>& out);
  const std::vector<NodeId>& choose(NodeId v, std::vector<Neighbor>& candidates);
  void keep(const Neighbor& neighbor);
  void fill(const std::vector<Neighbor>& candidates);
  void pass(const std::vector<Neighbor>& candidates, float ratio_limit, std::size_t goal);
  bool occluded(const Neighbor& candidate, State& state, float ratio_limit);

  const BuildSpace& space_;
  const PruneParameters parameters_;
  const Hubs* const hubs_;
  float self_ = 0;  ///< distance of the pruned vertex to itself
  std::vector<Kept> kept_;
  std::vector<State> states_;
  std::vector<NodeId> result_;
  std::vector<float> measured_;
  std::vector<Neighbor> pool_, own_;
  std::uint64_t distances_ = 0;
};

}  // namespace farvec::graph
