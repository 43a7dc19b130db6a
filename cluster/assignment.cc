#include "cluster/assignment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "cluster/replica_rule.h"

namespace farvec::cluster {
namespace {

constexpr std::size_t kRowChunk = 256;
/// The number of rows from which the closure ratio is chosen.
constexpr std::size_t kRatioRows = 10000;
constexpr float kLargestRatio = 100;
/// 1 + epsilon_1 of the publication, which sets epsilon_1 to 10.
constexpr float kPublishedRatio = 11;

CentroidIndex make_index(const std::vector<float>& centroids, std::uint32_t dimension,
                         const ClusteringOptions& options, unsigned threads) {
  graph::Graph graph = build_centroid_graph(
      centroids, dimension, {options.seed, threads, options.quiet, options.interrupted});
  return CentroidIndex({Metric::l2, ElementType::f32, dimension, dimension, centroids,
                        std::move(graph), false, false},
                       threads);
}

std::uint64_t capacity_of(std::size_t rows, std::uint32_t clusters, float balance) {
  const double mean = static_cast<double>(rows) / static_cast<double>(clusters);
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(balance) * mean));
}

}  // namespace

Assignment::Assignment(const Space& space, std::vector<float>& centroids,
                       const ClusteringOptions& options, const char* label)
    : label_(label),
      space_(space),
      centroids_(centroids),
      options_(options),
      clusters_(static_cast<std::uint32_t>(centroids.size() / space.dimension())),
      threads_(resolve_threads(options.threads)),
      capacity_(capacity_of(space.count(), clusters_, options.balance)),
      pair_(distance::pair_kernel(Metric::l2, ElementType::f32, space.dimension())),
      many_(distance::many_kernel(Metric::l2, ElementType::f32, space.dimension())),
      index_(make_index(centroids, space.dimension(), options, threads_)),
      closure_ratio_(options.closure_ratio),
      own_(clusters_, 0),
      open_(clusters_),
      workers_(threads_) {
  std::iota(open_.begin(), open_.end(), NodeId{0});
  for (Worker& worker : workers_) worker.row.resize(space.dimension());
}

void Assignment::run(Clustering& result, ClusteringStats& stats) {
  if (closure_ratio_ == 0) closure_ratio_ = ratio_of_closure();
  result.begins.assign(1, 0);
  result.begins.reserve(space_.count() + 1);
  result.clusters.clear();
  Progress progress(label_, space_.count(), options_.quiet, options_.interrupted);
  for (std::size_t begin = 0; begin < space_.count(); begin += options_.chunk_rows) {
    const std::size_t end = std::min(begin + options_.chunk_rows, space_.count());
    assign_chunk(begin, end, result, progress);
  }
  refill_empty(result);
  stats.closure_ratio = closure_ratio_;
  stats.rng_factor = rng_factor_of(options_);
  stats.displaced += displaced_;
  stats.refilled += refilled_;
}

float Assignment::ratio_of_closure() {
  switch (options_.closure) {
    case ClosureRule::spann:
      return kPublishedRatio;
    case ClosureRule::sptag:
      return kLargestRatio;
    case ClosureRule::fitted:
      break;
  }
  return choose_ratio();
}

/// Chooses the ratio from evenly spaced rows. A row is in one more cluster for each of its next R -
/// 1 centroids within the ratio, so the ratio is a quantile of those centroids' ratios.
float Assignment::choose_ratio() {
  const std::size_t rows = std::min(space_.count(), kRatioRows);
  const std::size_t others = std::min(options_.replicas, clusters_) - 1;
  if (others == 0) return 1;
  std::vector<float> ratios(rows * others, std::numeric_limits<float>::infinity());
  parallel_for(rows, kRowChunk, threads_, [&](std::size_t from, std::size_t to, unsigned w) {
    Candidates candidates;
    for (std::size_t i = from; i < to; ++i) {
      search(i * space_.count() / rows, workers_[w], candidates);
      const float nearest = candidates.near[0].distance;
      if (nearest <= 0 || candidates.count <= others) continue;  // no ratio
      for (std::size_t r = 0; r < others; ++r) {
        ratios[i * others + r] = std::sqrt(candidates.near[r + 1].distance / nearest);
      }
    }
  });
  std::erase_if(ratios, [](float ratio) { return !std::isfinite(ratio); });
  if (ratios.empty()) return 1;
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return std::clamp(*middle, 1.0f, kLargestRatio);
}

void Assignment::assign_chunk(std::size_t begin, std::size_t end, Clustering& result,
                              Progress& progress) {
  const std::size_t rows = end - begin;
  candidates_.resize(rows);
  places_.resize(rows);
  chosen_.resize(rows * options_.replicas);
  parallel_for(rows, kRowChunk, threads_, [&](std::size_t from, std::size_t to, unsigned w) {
    for (std::size_t i = from; i < to; ++i) search(begin + i, workers_[w], candidates_[i]);
    progress.advance(to - from);  // this is nearly all of the work
  });
  for (std::size_t i = 0; i < rows; ++i) places_[i] = take_place(begin + i, candidates_[i]);
  parallel_for(rows, kRowChunk, threads_, [&](std::size_t from, std::size_t to, unsigned) {
    for (std::size_t i = from; i < to; ++i) {
      choose_replicas(places_[i], candidates_[i], &chosen_[i * options_.replicas]);
    }
  });
  for (std::size_t i = 0; i < rows; ++i) {
    const ClusterId* chosen = &chosen_[i * options_.replicas];
    result.clusters.insert(result.clusters.end(), chosen, chosen + candidates_[i].chosen);
    result.begins.push_back(result.clusters.size());
  }
}

void Assignment::search(std::size_t row, Worker& worker, Candidates& out) const {
  space_.row(row, worker.row.data());
  const std::uint32_t wanted = options_.replicas == 1 ? kCandidatesOfOne : kCandidates;
  index_.search(worker.row.data(), wanted, worker.scratch);
  out.count = static_cast<std::uint32_t>(worker.scratch.found.size());
  std::copy(worker.scratch.found.begin(), worker.scratch.found.end(), out.near);
}

/// Returns the nearest cluster with room, and takes one place in it.
NearCluster Assignment::take_place(std::size_t row, const Candidates& candidates) {
  const NearCluster* const end = candidates.near + candidates.count;
  const NearCluster* near = std::find_if(
      candidates.near, end, [&](const NearCluster& c) { return own_[c.cluster] < capacity_; });
  if (near != candidates.near) ++displaced_;
  const NearCluster place = near != end ? *near : nearest_open(row);
  ++own_[place.cluster];
  return place;
}

NearCluster Assignment::nearest_open(std::size_t row) {
  std::erase_if(open_, [&](NodeId c) { return own_[c] >= capacity_; });
  FARVEC_CHECK(!open_.empty(), "the clusters have room for all rows");
  std::vector<float>& coordinates = workers_[0].row;
  std::vector<float> distances(open_.size());
  space_.row(row, coordinates.data());
  many_(coordinates.data(),
        packed_view(centroids_.data(), clusters_, space_.dimension(), ElementType::f32), open_,
        distances.data());
  const auto best = std::min_element(distances.begin(), distances.end());
  return {open_[static_cast<std::size_t>(best - distances.begin())], *best};
}

void Assignment::choose_replicas(NearCluster own, Candidates& candidates, ClusterId* out) const {
  const ReplicaRule rule(centroids_, space_.dimension(),
                         {options_.replicas, closure_ratio_, rng_factor_of(options_),
                          options_.closure == ClosureRule::spann});
  candidates.chosen = rule.choose(own.cluster, {candidates.near, candidates.count}, out).clusters;
}

/// Gives every empty cluster the vector that is farthest out in the largest cluster.
void Assignment::refill_empty(Clustering& result) {
  if (std::find(own_.begin(), own_.end(), 0u) == own_.end()) return;
  std::vector<std::vector<NodeId>> members(clusters_);
  for (std::size_t v = 0; v < space_.count(); ++v) {
    members[result.clusters[result.begins[v]]].push_back(static_cast<NodeId>(v));
  }
  std::vector<float> row(space_.dimension());
  for (ClusterId empty = 0; empty < clusters_; ++empty) {
    if (own_[empty] > 0) continue;
    const auto donor =
        static_cast<ClusterId>(std::max_element(own_.begin(), own_.end()) - own_.begin());
    auto out_lying = members[donor].begin();
    float farthest = -1;
    for (auto v = members[donor].begin(); v != members[donor].end(); ++v) {
      space_.row(*v, row.data());
      const float d = pair_(row.data(), centroid(donor), space_.dimension());
      if (d > farthest) {
        farthest = d;
        out_lying = v;
      }
    }
    give(*out_lying, empty, result);
    members[empty].push_back(*out_lying);
    members[donor].erase(out_lying);
    --own_[donor];
    ++own_[empty];
    ++refilled_;
  }
}

/// Makes `cluster` the row's own, before the clusters that it had; the last one goes if there is no
/// slot.
void Assignment::give(NodeId row, ClusterId cluster, Clustering& result) {
  const auto first = result.clusters.begin() + static_cast<std::ptrdiff_t>(result.begins[row]);
  const auto last = result.clusters.begin() + static_cast<std::ptrdiff_t>(result.begins[row + 1]);
  auto slot = std::find(first, last, cluster);
  if (slot == last) --slot;
  std::move_backward(first, slot, slot + 1);
  *first = cluster;
  space_.row(row, &centroids_[cluster * std::size_t{space_.dimension()}]);
}

}  // namespace farvec::cluster
