#include "graph/robust_prune.h"

#include <algorithm>
#include <limits>

namespace farvec::graph {

namespace {

/// A hub stands only for candidates at most half as far from it. It is a ratio of squared
/// distances.
constexpr float kHubRatio = 4;
/// A list that is short of edges is filled in steps: alpha rises by 1.2 each time.
constexpr float kRatioStep = 1.44f;
constexpr int kRatioSteps = 8;

bool nearer(const Neighbor& a, const Neighbor& b) {
  return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
}

}  // namespace

const std::vector<NodeId>& RobustPrune::run(NodeId v, std::vector<Neighbor>& candidates) {
  kept_.clear();
  self_ = space_.self(v);
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
  self_ = space_.self(v);
  for (const Neighbor& neighbor : own_) keep(neighbor);
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
  const float alpha = space_.products() ? 1.0f : parameters_.alpha * parameters_.alpha;
  pass(candidates, 1.0f, parameters_.degree);
  if (alpha > 1.0f) pass(candidates, alpha, parameters_.degree);
  fill(candidates);
  result_.clear();
  for (const Kept& kept : kept_) result_.push_back(kept.neighbor.id);
  return result_;
}

void RobustPrune::keep(const Neighbor& neighbor) {
  const bool hub = hubs_ != nullptr && hubs_->contains(neighbor.id);
  kept_.push_back({neighbor, neighbor.distance <= self_, hub});
}

/// Products are no metric, so a vertex that stands for a candidate need not lead to it: lists of
/// products get all the edges that there is room for. With other metrics a list is filled to half
/// of the degree, which is enough where a hub left it short and for rows that need few directions.
void RobustPrune::fill(const std::vector<Neighbor>& candidates) {
  const std::uint32_t goal = space_.products() ? parameters_.degree : parameters_.degree / 2;
  float ratio_limit = parameters_.alpha * parameters_.alpha;
  for (int step = 0; step < kRatioSteps && kept_.size() < goal; ++step) {
    ratio_limit *= kRatioStep;
    pass(candidates, ratio_limit, goal);
  }
  pass(candidates, std::numeric_limits<float>::infinity(), goal);
}

void RobustPrune::pass(const std::vector<Neighbor>& candidates, float ratio_limit,
                       std::size_t goal) {
  for (std::uint32_t i = 0; i < candidates.size() && kept_.size() < goal; ++i) {
    State& state = states_[i];
    if (state.kept || occluded(candidates[i], state, ratio_limit)) continue;
    state.kept = true;
    keep(candidates[i]);
  }
}

bool RobustPrune::occluded(const Neighbor& candidate, State& state, float ratio_limit) {
  while (state.ratio < ratio_limit && state.checked < kept_.size()) {
    const Kept& kept = kept_[state.checked++];
    if (nearer(candidate, kept.neighbor)) continue;
    // A duplicate of the vertex has no direction: it stands for other duplicates only.
    if (kept.duplicate && candidate.distance > self_) continue;
    const float ratio =
        space_.occlusion(candidate.distance, space_.distance(kept.neighbor.id, candidate.id));
    ++distances_;
    if (kept.hub && ratio < kHubRatio) continue;
    state.ratio = std::max(state.ratio, ratio);
  }
  return state.ratio >= ratio_limit;
}

}  // namespace farvec::graph
