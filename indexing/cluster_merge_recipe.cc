#include "indexing/cluster_merge_recipe.h"

#include <algorithm>
#include <utility>

#include "base/parallel.h"

namespace farvec::indexing {
namespace {

/// Fewer clusters say too little of how far away replicas are.
constexpr std::size_t kLeastClusters = 64;
/// Where this many times the rows that stay come, nothing is left of the clusters that were there.
constexpr std::size_t kMostGrowth = 8;

bool is_worth_keeping(const StoredClusters& former, const JoinedRowSet& joined) {
  const std::size_t kept = former.rows.count() - joined.out.count();
  const std::size_t more = joined.rows.count() - kept;
  return former.clusters.count() >= kLeastClusters && more < kMostGrowth * kept;
}

/// Returns for each merged cluster the probes that were counted of the former one that it is, or
/// was a part of.
std::vector<std::uint64_t> inherited(const std::vector<std::uint64_t>& probes,
                                     const std::vector<ClusterId>& origins) {
  std::vector<std::uint64_t> of_merged;
  if (probes.empty()) return of_merged;
  of_merged.reserve(origins.size());
  for (const ClusterId origin : origins) of_merged.push_back(probes.at(origin));
  return of_merged;
}

StoredClusters built_anew(StoredClusters joined, const cluster::ClusteringOptions& options) {
  BuiltClusters built = build_clusters({std::move(joined.manifest), joined.rows.view()}, options);
  joined.manifest = std::move(built.source.manifest);
  joined.clusters = std::move(built.clusters);
  joined.centroids = std::move(built.centroids);
  return joined;
}

}  // namespace

StoredClusters merge_clusters(StoredClusters former, IndexChanges changes,
                              cluster::ClusteringOptions options,
                              cluster::ClusterMergeStats* stats) {
  dataset::VectorSet joined = join_rows(former.rows.view(), changes, options.threads);
  changes.more = dataset::VectorSet(0, joined.dimension(), joined.type());
  return merge_joined_clusters(std::move(former), {std::move(changes.out), std::move(joined)},
                               options, stats);
}

StoredClusters merge_joined_clusters(StoredClusters former, JoinedRowSet joined,
                                     cluster::ClusteringOptions options,
                                     cluster::ClusterMergeStats* stats) {
  const VectorView rows = former.rows.view();
  const Metric metric = former.manifest.metric;
  const bool keep = is_worth_keeping(former, joined);
  const cluster::Space::Reach reach =
      cluster::Space(rows, metric, resolve_threads(options.threads)).reach();
  StoredClusters merged{{}, std::move(joined.rows), {}, graph::Graph(0, 1)};
  former.rows = dataset::VectorSet(0, rows.dimension, rows.type);
  merged.manifest = described_without_file(std::move(former.manifest), merged.rows.count());
  if (!keep) return built_anew(std::move(merged), options);
  layout::ClusterBuildParameters& build = merged.manifest.cluster().build;
  if (options.closure_ratio == 0) {
    options.closure_ratio = std::max(static_cast<float>(build.closure_ratio), 1.0f);
  }
  options.heads = build.heads;
  options.closure = build.closure;
  options.rng_factor = static_cast<float>(build.rng_factor);
  build.closure_ratio = static_cast<double>(options.closure_ratio);
  build.replicas = options.replicas;
  cluster::MergedClusters clusters =
      cluster::merge_clusters({std::move(former.clusters), std::move(former.centroids),
                               std::move(joined.out), reach, merged.rows.view()},
                              metric, options, stats);
  merged.clusters = std::move(clusters.clusters);
  merged.centroids = std::move(clusters.centroids);
  merged.probes = inherited(former.probes, clusters.origins);
  return merged;
}

}  // namespace farvec::indexing
