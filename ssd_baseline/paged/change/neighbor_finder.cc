#include "ssd_baseline/paged/change/neighbor_finder.h"

#include <algorithm>

namespace farvec::paged {

Status NeighborFinder::find(const Goal& goal) {
  Result<bool> again = true;
  for (int attempt = 0; attempt < kWalkAttempts && again.ok() && again.value(); ++attempt) {
    again = walk(goal);
  }
  return again.status();
}

/// Searches and chooses once. Returns whether it has to do so again, since a vacuum has kept it
/// from most of layer 0.
Result<bool> NeighborFinder::walk(const Goal& goal) {
  for (auto& chosen : chosen_) chosen.clear();
  vectors_.clear();
  source_.begin(goal.vector, goal.deadline, graph::tie_salt(goal.id));
  Status status = enter_hnsw({hnsw_, goal.deadline, counts_.meta}, source_, scratch_, state_);
  if (!status.ok()) return status;
  if (state_.vertices == 0) return false;
  const std::uint32_t top = std::min<std::uint32_t>(goal.level, state_.entry_level);
  status = graph::descend(source_, state_.entry_level, top, scratch_);
  for (std::uint32_t layer = top + 1; layer-- > 0 && status.ok();) {
    // On layer 0 the search goes on to the first vertex that is not marked, however far that is:
    // each vertex needs a neighbour.
    const graph::LayerGoal wanted{layer, hnsw_.config().ef_construction, layer == 0 ? 1u : 0u};
    status = graph::layer_search(source_, wanted, scratch_);
    if (status.ok()) status = choose(goal, layer);
  }
  if (!status.ok()) return status;
  const auto wanted = std::min<std::uint64_t>(hnsw_.config().ef_construction, state_.vertices);
  return !scratch_.cut_short() && source_.starved(scratch_.found().size(), wanted);
}

Status NeighborFinder::choose(const Goal& goal, std::uint32_t layer) {
  handles_.clear();
  for (const graph::Candidate& c : scratch_.found()) handles_.push_back(c.handle);
  if (goal.also != nullptr) {
    handles_.insert(handles_.end(), (*goal.also)[layer].begin(), (*goal.also)[layer].end());
  }
  if (Status status = vectors_.gather(handles_, goal.deadline, counts_.selection); !status.ok()) {
    return status;
  }
  make_pool(goal, layer);
  const auto between = [&](std::uint32_t a, std::uint32_t b) {
    ++counts_.selected_between;
    return hnsw_.distance(rows_[a], rows_[b]);
  };
  const float self = hnsw_.distance(goal.vector, goal.vector);
  graph::select_neighbors(pool_, {hnsw_.shape().degree(layer), self}, between, selection_);
  std::sort(selection_.chosen.begin(), selection_.chosen.end());
  const NodeId salt = graph::tie_salt(goal.id);
  for (const std::uint32_t at : selection_.chosen) {
    const graph::Candidate& c = pool_[at];
    chosen_[layer].push_back({c.distance, c.id ^ salt, c.handle});
  }
  return {};
}

/// Makes the list of vertices that may be chosen, nearest first, with their vectors.
void NeighborFinder::make_pool(const Goal& goal, std::uint32_t layer) {
  const NodeId salt = graph::tie_salt(goal.id);
  pool_.clear();
  for (const graph::Candidate& c : scratch_.found()) {
    const auto* entry = vectors_.find(c.handle);
    if (c.handle == goal.self || entry == nullptr || entry->id != (c.id ^ salt)) continue;
    pool_.push_back(c);
  }
  if (goal.also != nullptr) {
    for (const graph::Handle handle : (*goal.also)[layer]) {
      const auto* entry = vectors_.find(handle);
      if (handle == goal.self || entry == nullptr || entry->marked) continue;
      const float distance = hnsw_.distance(goal.vector, vectors_.vector(*entry));
      pool_.push_back({distance, entry->id ^ salt, handle});
    }
    std::sort(pool_.begin(), pool_.end());
    pool_.erase(std::unique(pool_.begin(), pool_.end()), pool_.end());
  }
  rows_.clear();
  for (const graph::Candidate& c : pool_)
    rows_.push_back(vectors_.vector(*vectors_.find(c.handle)));
}

}  // namespace farvec::paged
