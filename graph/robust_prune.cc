#include "graph/robust_prune.h"

#include <algorithm>
#include <limits>

namespace farvec::graph {

namespace {

bool nearer(const Neighbor& a, const Neighbor& b) {
  return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
}

}  // namespace

const std::vector<NodeId>& RobustPrune::run(NodeId v, std::vector<Neighbor>& candidates) {
  kept_.clear();
  return choose(v, candidates);
}

const std::vector<NodeId>& RobustPrune::run(NodeId v, std::span<const NodeId> candidates) {
  measure(v, candidates, pool_);
  return run(v, pool_);
}

const std::vector<NodeId>& RobustPrune::extend(NodeId v, std::span<const NodeId> chosen,
                                               std::span<const NodeId> candidates) {
  measure(v, chosen, own_);
  measure(v, candidates, pool_);
  kept_.clear();
  for (const Neighbor& neighbor : own_) kept_.push_back({neighbor, neighbor.distance == 0});
  return choose(v, pool_);
}

void RobustPrune::measure(NodeId v, std::span<const NodeId> ids, std::vector<Neighbor>& out) {
  measured_.resize(ids.size());
  space_.distances(v, ids.data(), ids.size(), measured_.data());
  distances_ += ids.size();
  out.clear();
  for (std::size_t i = 0; i < ids.size(); ++i) out.push_back({ids[i], measured_[i]});
}

/// Adds to kept_.
const std::vector<NodeId>& RobustPrune::choose(NodeId v, std::vector<Neighbor>& candidates) {
  std::erase_if(candidates, [v](const Neighbor& c) { return c.id == v; });
  std::sort(candidates.begin(), candidates.end(), nearer);
  candidates.erase(std::unique(candidates.begin(), candidates.end(),
                               [](const Neighbor& a, const Neighbor& b) { return a.id == b.id; }),
                   candidates.end());
  states_.assign(candidates.size(), State{});
  // Ratios of squared distances, so alpha enters squared.
  pass(candidates, 1.0f);
  if (parameters_.alpha > 1.0f) pass(candidates, parameters_.alpha * parameters_.alpha);
  result_.clear();
  for (const Kept& kept : kept_) result_.push_back(kept.neighbor.id);
  return result_;
}

void RobustPrune::pass(const std::vector<Neighbor>& candidates, float ratio_limit) {
  for (std::uint32_t i = 0; i < candidates.size() && kept_.size() < parameters_.degree; ++i) {
    State& state = states_[i];
    if (state.kept || occluded(candidates[i], state, ratio_limit)) continue;
    state.kept = true;
    kept_.push_back({candidates[i], candidates[i].distance == 0});
  }
}

bool RobustPrune::occluded(const Neighbor& candidate, State& state, float ratio_limit) {
  while (state.ratio < ratio_limit && state.checked < kept_.size()) {
    const Kept& kept = kept_[state.checked++];
    if (nearer(candidate, kept.neighbor)) continue;
    // A duplicate of the vertex lies in no direction: it stands for other duplicates only.
    if (kept.duplicate && candidate.distance > 0) continue;
    const float between = space_.distance(kept.neighbor.id, candidate.id);
    ++distances_;
    const float ratio =
        between > 0 ? candidate.distance / between : std::numeric_limits<float>::infinity();
    state.ratio = std::max(state.ratio, ratio);
  }
  return state.ratio >= ratio_limit;
}

}  // namespace farvec::graph
