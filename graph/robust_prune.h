// RobustPrune: chooses up to R diverse neighbours from a candidate set.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/build_space.h"
#include "graph/candidate_list.h"

namespace farvec::graph {

struct PruneParameters {
  std::uint32_t degree = 32;  ///< R
  float alpha = 1.2f;         ///< on distances, not on their squares
};

/// Working memory of one thread.
class RobustPrune {
 public:
  RobustPrune(const BuildSpace& space, PruneParameters parameters)
      : space_(space), parameters_(parameters) {}

  /// Neighbours for vertex `v` from `candidates` (any order, duplicates and v itself allowed; it is
  /// sorted in place). A candidate c is dropped when a kept neighbour k, nearer to v than c, has
  /// alpha * d(k, c) <= d(v, c). First alpha = 1, then parameters.alpha for what room is left, as
  /// DiskANN's code ramps it, so that the shortest diverse edges are always kept. The result is
  /// valid until the next call, in the order in which the edges were kept.
  const std::vector<NodeId>& run(NodeId v, std::vector<Neighbor>& candidates);
  /// The same of vertices whose distances from `v` are yet to be computed.
  const std::vector<NodeId>& run(NodeId v, std::span<const NodeId> candidates);
  /// Edges that `v` keeps, at most `degree`, and behind them those of the candidates (none of them
  /// chosen; duplicates and v itself allowed) that fit beside them, by the same rule.
  const std::vector<NodeId>& extend(NodeId v, std::span<const NodeId> chosen,
                                    std::span<const NodeId> candidates);

  /// Computed so far.
  std::uint64_t distances() const { return distances_; }

 private:
  struct Kept {
    Neighbor neighbor;
    bool duplicate;  ///< at distance 0 from the vertex that is pruned
  };
  struct State {
    std::uint32_t checked = 0;  ///< how many kept neighbours this candidate was compared with
    float ratio = 0;            ///< largest d(v,c)/d(k,c) seen, squared distances
    bool kept = false;
  };

  void measure(NodeId v, std::span<const NodeId> ids, std::vector<Neighbor>& out);
  const std::vector<NodeId>& choose(NodeId v, std::vector<Neighbor>& candidates);
  void pass(const std::vector<Neighbor>& candidates, float ratio_limit);
  bool occluded(const Neighbor& candidate, State& state, float ratio_limit);

  const BuildSpace& space_;
  const PruneParameters parameters_;
  std::vector<Kept> kept_;
  std::vector<State> states_;
  std::vector<NodeId> result_;
  std::vector<float> measured_;
  std::vector<Neighbor> pool_, own_;
  std::uint64_t distances_ = 0;
};

}  // namespace farvec::graph
