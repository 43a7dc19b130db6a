#include "ssd_baseline/hnsw/neighbor_finder.h"

#include <algorithm>

namespace farvec::ssd_baseline {

Status NeighborFinder::find(const Goal& goal) {
  for (auto& chosen : chosen_) chosen.clear();
  vectors_.clear();
  source_.begin(goal.vector, goal.deadline, graph::tie_salt(goal.id));
  Status status = enter_hnsw({hnsw_, goal.deadline, counts_.meta}, source_, scratch_, state_);
  if (!status.ok() || state_.entry().empty()) return status;
  const std::uint32_t top = std::min<std::uint32_t>(goal.level, state_.entry_level);
  status = graph::descend(source_, state_.entry_level, top, scratch_);
  for (std::uint32_t layer = top + 1; layer-- > 0 && status.ok();) {
    status = graph::layer_search(source_, layer, hnsw_.config().ef_construction, scratch_);
    if (status.ok()) status = choose(goal, layer);
  }
  return status;
}

Status NeighborFinder::choose(const Goal& goal, std::uint32_t layer) {
  handles_.clear();
  for (const graph::Candidate& c : scratch_.found()) handles_.push_back(c.handle);
  if (Status status = vectors_.gather(handles_, goal.deadline, counts_.selection); !status.ok()) {
    return status;
  }
  pool_.clear();
  rows_.clear();
  for (const graph::Candidate& c : scratch_.found()) {
    const auto* entry = vectors_.find(c.handle);
    const NodeId id = c.id ^ graph::tie_salt(goal.id);
    if (c.handle == goal.self || entry == nullptr || entry->id != id) continue;
    pool_.push_back({c.distance, id, c.handle});
    rows_.push_back(vectors_.vector(*entry));
  }
  const auto between = [&](std::uint32_t a, std::uint32_t b) {
    ++counts_.selected_between;
    return hnsw_.distance(rows_[a], rows_[b]);
  };
  const float self = hnsw_.distance(goal.vector, goal.vector);
  graph::select_neighbors(pool_, {hnsw_.shape().degree(layer), self}, between, selection_);
  std::sort(selection_.chosen.begin(), selection_.chosen.end());
  for (const std::uint32_t at : selection_.chosen) chosen_[layer].push_back(pool_[at]);
  return {};
}

}  // namespace farvec::ssd_baseline
