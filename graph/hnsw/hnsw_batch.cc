#include "graph/hnsw/hnsw_batch.h"

#include <algorithm>

#include "base/parallel.h"

namespace farvec::graph {
namespace {

constexpr std::size_t kHnswPointChunk = 16;
constexpr std::size_t kHnswGroupChunk = 256;

}  // namespace

/// The LayerSource of one point, over the graph as it is. Handles are rows.
class HnswBatchInserter::Source {
 public:
  Source(const HnswBatchInserter& inserter, NodeId point, Worker& worker)
      : inserter_(inserter),
        query_(inserter.data_.row(point)),
        salt_(tie_salt(point)),
        worker_(worker) {}

  Status neighbors(Handle vertex, std::uint32_t layer, std::vector<Handle>& out) const {
    const auto row = inserter_.graph_.neighbors(static_cast<NodeId>(vertex), layer);
    out.assign(row.begin(), row.end());
    return {};
  }

  template <typename Visit>
  Status score(std::uint32_t, std::span<const Handle> handles, Visit&& visit) const {
    worker_.ids.resize(handles.size());
    worker_.scores.resize(handles.size());
    std::transform(handles.begin(), handles.end(), worker_.ids.begin(),
                   [](Handle handle) { return static_cast<NodeId>(handle); });
    inserter_.many_(query_, inserter_.data_, worker_.ids, worker_.scores.data());
    worker_.distances += handles.size();
    for (std::size_t i = 0; i < handles.size(); ++i) {
      visit(Scored{{worker_.scores[i], worker_.ids[i] ^ salt_, handles[i]}, false});
    }
    return {};
  }

 private:
  const HnswBatchInserter& inserter_;
  const std::byte* query_;
  const NodeId salt_;
  Worker& worker_;
};

HnswBatchInserter::HnswBatchInserter(VectorView data, Metric metric, const HnswOptions& options,
                                     HnswGraph& graph)
    : data_(data),
      options_(options),
      threads_(resolve_threads(options.threads)),
      pair_(distance::pair_kernel(metric, data.type, data.dimension)),
      many_(distance::many_kernel(metric, data.type, data.dimension)),
      graph_(graph) {
  for (unsigned t = 0; t < threads_; ++t) workers_.push_back(std::make_unique<Worker>());
}

void HnswBatchInserter::insert(std::span<const NodeId> batch) {
  parallel_for(batch.size(), kHnswPointChunk, threads_,
               [&](std::size_t begin, std::size_t end, unsigned w) {
                 for (std::size_t i = begin; i < end; ++i) insert_point(batch[i], *workers_[w]);
               });
  for (std::uint32_t layer = 0; layer <= graph_.top(); ++layer) link_back(batch, layer);
}

/// Nothing leads to the point yet, so its rows may be written while other threads search.
void HnswBatchInserter::insert_point(NodeId point, Worker& worker) {
  if (point == graph_.entry()) return;
  Source source(*this, point, worker);
  const std::uint32_t level = graph_.level(point);  // no other point's level is above the entry's
  Status status = enter(source, graph_.top(), graph_.entry(), worker.search);
  if (status.ok()) status = descend(source, graph_.top(), level, worker.search);
  for (std::uint32_t layer = level + 1; layer-- > 0 && status.ok();) {
    status = layer_search(source, {layer, options_.ef_construction}, worker.search);
    choose(point, layer, worker.search.found(), worker);
  }
  FARVEC_CHECK(status.ok(), "{}", status.message());
}

void HnswBatchInserter::choose(NodeId v, std::uint32_t layer, std::span<const Candidate> pool,
                               Worker& worker) {
  const auto row = [&](NodeId id) { return data_.row(id); };
  const auto between = [&](std::uint32_t a, std::uint32_t b) {
    ++worker.distances;
    return pair_(row(static_cast<NodeId>(pool[a].handle)), row(static_cast<NodeId>(pool[b].handle)),
                 data_.dimension);
  };
  const float self = pair_(row(v), row(v), data_.dimension);
  select_neighbors(pool, {degree(layer), self}, between, worker.selection);
  worker.ids.clear();
  for (const std::uint32_t at : worker.selection.chosen) {
    worker.ids.push_back(static_cast<NodeId>(pool[at].handle));
  }
  graph_.set_neighbors(v, layer, worker.ids);
}

void HnswBatchInserter::link_back(std::span<const NodeId> batch, std::uint32_t layer) {
  collect_back_edges(batch, layer);
  parallel_for(groups_.size() - 1, kHnswGroupChunk, threads_,
               [&](std::size_t begin, std::size_t end, unsigned w) {
                 for (std::size_t g = begin; g < end; ++g) {
                   add_back_edges({edges_.data() + groups_[g], groups_[g + 1] - groups_[g]}, layer,
                                  *workers_[w]);
                 }
               });
}

void HnswBatchInserter::collect_back_edges(std::span<const NodeId> batch, std::uint32_t layer) {
  edges_.clear();
  for (const NodeId source : batch) {
    if (graph_.level(source) < layer) continue;
    for (const NodeId target : graph_.neighbors(source, layer)) {
      edges_.push_back((std::uint64_t{target} << 32) | source);
    }
  }
  std::sort(edges_.begin(), edges_.end());
  groups_.clear();
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    if (i == 0 || (edges_[i] >> 32) != (edges_[i - 1] >> 32)) groups_.push_back(i);
  }
  groups_.push_back(edges_.size());
}

void HnswBatchInserter::add_back_edges(std::span<const std::uint64_t> edges, std::uint32_t layer,
                                       Worker& worker) {
  const auto target = static_cast<NodeId>(edges.front() >> 32);
  const auto row = graph_.neighbors(target, layer);
  worker.ids.assign(row.begin(), row.end());
  for (const std::uint64_t edge : edges) {
    const auto source = static_cast<NodeId>(edge);
    if (std::find(row.begin(), row.end(), source) == row.end()) worker.ids.push_back(source);
  }
  if (worker.ids.size() <= graph_.capacity(layer)) {
    graph_.set_neighbors(target, layer, worker.ids);
  } else {
    prune_vertex(target, layer, worker);
  }
}

/// Replaces the edges of `v` by a choice from worker.ids.
void HnswBatchInserter::prune_vertex(NodeId v, std::uint32_t layer, Worker& worker) {
  worker.scores.resize(worker.ids.size());
  many_(data_.row(v), data_, worker.ids, worker.scores.data());
  worker.distances += worker.ids.size();
  worker.pool.clear();
  for (std::size_t i = 0; i < worker.ids.size(); ++i) {
    worker.pool.push_back({worker.scores[i], worker.ids[i] ^ tie_salt(v), worker.ids[i]});
  }
  std::sort(worker.pool.begin(), worker.pool.end());
  choose(v, layer, worker.pool, worker);
}

void HnswBatchInserter::prune_to_degree() {
  parallel_for(graph_.count(), kHnswGroupChunk, threads_,
               [&](std::size_t begin, std::size_t end, unsigned w) {
                 for (auto v = static_cast<NodeId>(begin); v < end; ++v) {
                   for (std::uint32_t layer = 0; layer <= graph_.level(v); ++layer) {
                     const auto row = graph_.neighbors(v, layer);
                     if (row.size() <= degree(layer)) continue;
                     workers_[w]->ids.assign(row.begin(), row.end());
                     prune_vertex(v, layer, *workers_[w]);
                   }
                 }
               });
}

std::uint64_t HnswBatchInserter::distances() const {
  std::uint64_t total = 0;
  for (const auto& worker : workers_) total += worker->distances;
  return total;
}

}  // namespace farvec::graph
