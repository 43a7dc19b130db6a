#include "graph/robust_prune.h"

#include <algorithm>
#include <limits>

namespace farvec::graph {

const std::vector<NodeId>& RobustPrune::run(NodeId v, std::vector<Neighbor>& candidates) {
  std::erase_if(candidates, [v](const Neighbor& c) { return c.id == v; });
  std::sort(candidates.begin(), candidates.end(), [](const Neighbor& a, const Neighbor& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
  });
  candidates.erase(std::unique(candidates.begin(), candidates.end(),
                               [](const Neighbor& a, const Neighbor& b) { return a.id == b.id; }),
                   candidates.end());
  kept_.clear();
  states_.assign(candidates.size(), State{});
  // Ratios of squared distances, so alpha enters squared.
  pass(candidates, 1.0f);
  if (parameters_.alpha > 1.0f) pass(candidates, parameters_.alpha * parameters_.alpha);
  result_.clear();
  for (const Kept& kept : kept_) result_.push_back(kept.id);
  return result_;
}

void RobustPrune::pass(const std::vector<Neighbor>& candidates, float ratio_limit) {
  for (std::uint32_t i = 0; i < candidates.size() && kept_.size() < parameters_.degree; ++i) {
    State& state = states_[i];
    if (state.kept || occluded(candidates[i], i, ratio_limit)) continue;
    state.kept = true;
    kept_.push_back({i, candidates[i].id, candidates[i].distance == 0});
  }
}

bool RobustPrune::occluded(const Neighbor& candidate, std::uint32_t position, float ratio_limit) {
  State& state = states_[position];
  while (state.ratio < ratio_limit && state.checked < kept_.size()) {
    const Kept& kept = kept_[state.checked++];
    if (kept.position > position) continue;
    // A duplicate of the vertex lies in no direction: it stands for other duplicates only.
    if (kept.duplicate && candidate.distance > 0) continue;
    const float between = space_.distance(kept.id, candidate.id);
    ++distances_;
    const float ratio =
        between > 0 ? candidate.distance / between : std::numeric_limits<float>::infinity();
    state.ratio = std::max(state.ratio, ratio);
  }
  return state.ratio >= ratio_limit;
}

}  // namespace farvec::graph
