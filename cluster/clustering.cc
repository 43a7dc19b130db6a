#include "cluster/clustering.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "cluster/assignment.h"
#include "cluster/balanced_kmeans.h"
#include "cluster/centroid_tree.h"
#include "cluster/space.h"
#include "graph/candidate_list.h"

namespace farvec::cluster {
namespace {

constexpr std::size_t kSamplePerCluster = 64;
constexpr std::size_t kSampleChunk = 4096;
constexpr float kFittedFactor = 2;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void check_options(const VectorView& data, const ClusteringOptions& options) {
  if (data.count >= kInvalidNode) {
    throw Error("{} vectors are too many for one index: the limit is {}", data.count,
                kInvalidNode - 1);
  }
  if (options.clusters == 0 || options.clusters >= graph::kMaxNodes) {
    throw Error("{} clusters are out of range: use 1 to {}", options.clusters,
                graph::kMaxNodes - 1);
  }
  if (data.count < options.clusters) {
    throw Error("{} vectors cannot fill {} clusters: ask for at most {} clusters, or larger ones",
                data.count, options.clusters, data.count);
  }
  if (options.replicas == 0 || options.replicas > kMaxReplicas) {
    throw Error("{} replicas are out of range: use 1 to {}", options.replicas, kMaxReplicas);
  }
  if (options.closure_ratio != 0 &&
      !(options.closure_ratio >= 1.0f && options.closure_ratio <= 100.0f)) {
    throw Error("closure ratio {} is out of range: use 1 to 100, or 0 for a suitable one",
                options.closure_ratio);
  }
  if (!(options.rng_factor >= 0.0f && options.rng_factor <= 1e6f)) {
    throw Error("neighbourhood factor {} is out of range: use 0 (the closure's) to 1e6",
                options.rng_factor);
  }
  if (!(options.balance >= 1.0f && options.balance <= 1e6f)) {
    throw Error("balance {} is out of range: use 1 (all equal) to 1e6", options.balance);
  }
  if (options.sample != 0 && options.sample < options.clusters) {
    throw Error("a sample of {} rows cannot train {} centroids: use at least as many",
                options.sample, options.clusters);
  }
  if (options.chunk_rows == 0) throw Error("chunks need at least one row");
}

std::size_t sample_size(std::size_t rows, std::size_t row_bytes, const ClusteringOptions& options) {
  if (options.sample != 0) return std::min(options.sample, rows);
  const std::size_t memory = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                             static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t held = std::max<std::size_t>(memory / 4 / row_bytes, options.clusters);
  return std::min({rows, options.clusters * kSamplePerCluster, held});
}

/// Takes one row from each of `size` equal stretches of the data, in order.
HugeBuffer take_sample(const Space& space, std::size_t size, const ClusteringOptions& options) {
  const std::size_t row_floats = space.dimension();
  HugeBuffer sample(size * row_floats * sizeof(float));
  auto* rows = reinterpret_cast<float*>(sample.data());
  parallel_for(size, kSampleChunk, resolve_threads(options.threads),
               [&](std::size_t begin, std::size_t end, unsigned) {
                 for (std::size_t i = begin; i < end; ++i) {
                   const std::size_t first = i * space.count() / size;
                   const std::size_t after = (i + 1) * space.count() / size;
                   const std::size_t row = first + Random(options.seed + i).below(after - first);
                   space.row(row, rows + i * row_floats);
                 }
               });
  return sample;
}

using WriteCenter = void (*)(const VectorView&, std::span<const NodeId>, float*);

/// Moves every centroid to the centre of the rows whose own cluster it is.
void refine(VectorView rows, ClusteringOptions options, WriteCenter write,
            std::vector<float>& centroids) {
  options.replicas = 1;
  options.closure_ratio = 1;
  const Space space(rows, Metric::l2, 1);
  Clustering clustering;
  ClusteringStats stats;
  Assignment(space, centroids, options, "refinement").run(clustering, stats);
  const std::size_t clusters = centroids.size() / rows.dimension;
  std::vector<std::vector<NodeId>> members(clusters);
  for (std::size_t i = 0; i < rows.count; ++i) {
    members[clustering.clusters[i]].push_back(static_cast<NodeId>(i));
  }
  parallel_for(clusters, 64, resolve_threads(options.threads),
               [&](std::size_t begin, std::size_t end, unsigned) {
                 for (std::size_t c = begin; c < end; ++c) {
                   write(rows, members[c], &centroids[c * rows.dimension]);
                 }
               });
}

std::vector<float> train(const Space& space, const ClusteringOptions& options,
                         ClusteringStats& stats) {
  stats.sample = sample_size(space.count(), space.dimension() * sizeof(float), options);
  const HugeBuffer sample = take_sample(space, stats.sample, options);
  TreeOptions tree;
  tree.centroids = options.clusters;
  tree.balance = options.balance;
  tree.seed = options.seed;
  tree.threads = resolve_threads(options.threads);
  tree.quiet = options.quiet;
  tree.interrupted = options.interrupted;
  const VectorView rows =
      packed_view(sample.data(), stats.sample, space.dimension(), ElementType::f32);
  std::vector<float> centroids = train_centroids(rows, tree);
  for (std::uint32_t i = 0; i < options.refinements; ++i) {
    refine(rows, options, write_mean, centroids);
  }
  if (options.heads == HeadKind::vectors) refine(rows, options, write_nearest_to_mean, centroids);
  if (options.heads == HeadKind::rounded) space.round(centroids);
  return centroids;
}

void count_sizes(const Clustering& clustering, ClusteringStats& stats) {
  std::vector<std::uint64_t> own(clustering.count(), 0), all(clustering.count(), 0);
  const MembershipView membership = clustering.membership();
  for (std::size_t v = 0; v < membership.count(); ++v) {
    ++own[membership.of(v).front()];
    for (const ClusterId c : membership.of(v)) ++all[c];
  }
  stats.memberships = clustering.clusters.size();
  stats.largest_own = *std::max_element(own.begin(), own.end());
  stats.largest_cluster = *std::max_element(all.begin(), all.end());
}

}  // namespace

float rng_factor_of(const ClusteringOptions& options) {
  if (options.rng_factor > 0) return options.rng_factor;
  return options.closure == ClosureRule::fitted ? kFittedFactor : 1;
}

Clustering build_clusters(VectorView data, Metric metric, const ClusteringOptions& options,
                          ClusteringStats* stats) {
  check_options(data, options);
  const auto start = Clock::now();
  const Space space(data, metric, resolve_threads(options.threads));
  ClusteringStats counts;
  Clustering result;
  result.space_dimension = space.dimension();
  result.centroids = train(space, options, counts);
  counts.training_seconds = seconds_since(start);
  const auto trained = Clock::now();
  Assignment assignment(space, result.centroids, options);
  assignment.run(result, counts);
  counts.assignment_seconds = seconds_since(trained);
  count_sizes(result, counts);
  if (stats != nullptr) *stats = counts;
  return result;
}

}  // namespace farvec::cluster
