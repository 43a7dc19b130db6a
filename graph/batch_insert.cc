#include "graph/batch_insert.h"

#include <algorithm>

#include "base/parallel.h"
#include "graph/adjacency_source.h"

namespace farvec::graph {
namespace {

constexpr std::size_t kPointChunk = 64;
constexpr std::size_t kGroupChunk = 256;

/// Scores exactly and remembers every expanded vertex.
struct BuildScorer {
  const BuildSpace& space;
  NodeId point;
  std::vector<Neighbor>& expanded;

  void prefetch(NodeId id) const { space.prefetch(id); }
  void estimate(const NodeId* ids, std::size_t count, float* out) const {
    space.distances(point, ids, count, out);
  }
  float exact(NodeId id, const NodeRecord&) const {
    const float d = space.distance(point, id);
    expanded.push_back({id, d});
    return d;
  }
};

}  // namespace

BatchInserter::BatchInserter(const BuildSpace& space, const VamanaOptions& options,
                             unsigned threads, Graph& graph)
    : space_(space),
      options_(options),
      threads_(threads),
      graph_(graph),
      affine_(graph.count(), options.affinity),
      hubs_(graph.count(), options.degree) {
  for (unsigned t = 0; t < threads; ++t) {
    workers_.push_back(
        std::make_unique<Worker>(space, PruneParameters{options.degree, options.alpha}, hubs_));
  }
}

void BatchInserter::insert(std::span<const NodeId> batch) {
  proposals_.resize(batch.size() * options_.degree);
  proposal_sizes_.resize(batch.size());
  parallel_for(batch.size(), kPointChunk, threads_,
               [&](std::size_t begin, std::size_t end, unsigned w) {
                 stop_if_interrupted();
                 for (std::size_t i = begin; i < end; ++i) propose(i, batch[i], *workers_[w]);
               });
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::span<const NodeId> chosen(&proposals_[i * options_.degree], proposal_sizes_[i]);
    hubs_.replace(graph_.neighbors(batch[i]), chosen);
    graph_.set_neighbors(batch[i], chosen);
  }
  collect_back_edges(batch);
  parallel_for(
      groups_.size() - 1, kGroupChunk, threads_,
      [&](std::size_t begin, std::size_t end, unsigned w) {
        stop_if_interrupted();
        for (std::size_t g = begin; g < end; ++g) {
          add_back_edges({edges_.data() + groups_[g], groups_[g + 1] - groups_[g]}, *workers_[w]);
        }
      });
}

void BatchInserter::propose(std::size_t slot, NodeId point, Worker& worker) {
  BeamParameters parameters;
  parameters.k = 1;
  parameters.list = options_.list;
  parameters.max_degree = graph_.row_capacity();
  parameters.node_count = static_cast<std::uint32_t>(graph_.count());
  worker.pool.clear();
  AdjacencySource source{graph_};
  const BuildScorer scorer{space_, point, worker.pool};
  const NodeId entry = graph_.entry;
  const Status status = beam_search(source, scorer, {&entry, 1}, parameters, worker.scratch);
  FARVEC_CHECK(status.ok(), "{}", status.message());
  worker.estimates += worker.scratch.counts.estimates + worker.scratch.counts.distances;
  for (NodeId id : graph_.neighbors(point)) {
    worker.pool.push_back({id, space_.distance(point, id)});
  }
  const auto& kept = worker.prune.run(point, worker.pool);
  if (!affine_.empty()) remember_affine(point, worker);
  std::copy(kept.begin(), kept.end(), &proposals_[slot * options_.degree]);
  proposal_sizes_[slot] = static_cast<std::uint32_t>(kept.size());
}

/// Works on the worker's pool, which the pruning has sorted.
void BatchInserter::remember_affine(NodeId point, Worker& worker) {
  if (!space_.products()) return affine_.set(point, worker.pool);
  for (Neighbor& near : worker.pool) near.distance = space_.squared(point, near.id, near.distance);
  std::sort(worker.pool.begin(), worker.pool.end(), [](const Neighbor& a, const Neighbor& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
  });
  affine_.set(point, worker.pool);
}

void BatchInserter::collect_back_edges(std::span<const NodeId> batch) {
  edges_.clear();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    for (NodeId target : graph_.neighbors(batch[i])) {
      edges_.push_back((std::uint64_t{target} << 32) | batch[i]);
    }
  }
  std::sort(edges_.begin(), edges_.end());
  groups_.clear();
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    if (i == 0 || (edges_[i] >> 32) != (edges_[i - 1] >> 32)) groups_.push_back(i);
  }
  groups_.push_back(edges_.size());
}

void BatchInserter::add_back_edges(std::span<const std::uint64_t> edges, Worker& worker) {
  const auto target = static_cast<NodeId>(edges.front() >> 32);
  const auto row = graph_.neighbors(target);
  worker.ids.assign(row.begin(), row.end());
  for (std::uint64_t edge : edges) {
    const auto source = static_cast<NodeId>(edge);
    if (std::find(row.begin(), row.end(), source) == row.end()) worker.ids.push_back(source);
  }
  if (worker.ids.size() <= graph_.row_capacity()) {
    graph_.set_neighbors(target, worker.ids);
  } else {
    graph_.set_neighbors(target, worker.prune.run(target, std::span<const NodeId>(worker.ids)));
  }
}

void BatchInserter::prune_to_degree() {
  parallel_for(graph_.count(), kGroupChunk, threads_,
               [&](std::size_t begin, std::size_t end, unsigned w) {
                 stop_if_interrupted();
                 for (std::size_t v = begin; v < end; ++v) {
                   const auto row = graph_.neighbors(v);
                   if (row.size() <= options_.degree) continue;
                   graph_.set_neighbors(v, workers_[w]->prune.run(static_cast<NodeId>(v), row));
                 }
               });
}

void BatchInserter::stop_if_interrupted() const {
  if (options_.interrupted()) throw WorkInterrupted();
}

std::uint64_t BatchInserter::distances() const {
  std::uint64_t total = 0;
  for (const auto& worker : workers_) total += worker->estimates + worker->prune.distances();
  return total;
}

}  // namespace farvec::graph
