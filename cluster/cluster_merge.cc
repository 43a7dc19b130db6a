#include "cluster/cluster_merge.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "cluster/assignment.h"
#include "cluster/centroid_index.h"
#include "cluster/cluster_merger.h"

namespace farvec::cluster {
namespace {

constexpr std::size_t kNewRowRun = 256;
constexpr ClusterId kGone = std::numeric_limits<ClusterId>::max();

}  // namespace

ClusterMerger::ClusterMerger(ClusterMerge& merge, Metric metric, const ClusteringOptions& options)
    : options_(options),
      threads_(resolve_threads(options.threads)),
      space_(merge.rows, metric, merge.reach),
      dimension_(space_.dimension()),
      former_(merge.former.count()),
      former_graph_(graph::copy_of(merge.centroids)),
      neighborhood_(merge.former, std::move(merge.centroids), threads_),
      centroids_(std::move(merge.former.centroids)),
      origins_(former_),
      postings_(merge.rows.count, former_),
      kept_(postings_.take(merge.former.membership(), merge.out)),
      alive_(former_, true),
      touched_(former_, false),
      settled_(former_, false),
      clusters_(former_),
      rule_(centroids_, dimension_,
            {options.replicas, options.closure_ratio, rng_factor_of(options),
             options.closure == ClosureRule::spann}),
      pair_(distance::pair_kernel(Metric::l2, ElementType::f32, dimension_)),
      many_(distance::many_kernel(Metric::l2, ElementType::f32, dimension_)),
      row_(dimension_),
      seen_(merge.rows.count, 0) {
  merge.former = {};
  std::iota(origins_.begin(), origins_.end(), ClusterId{0});
}

MergedClusters ClusterMerger::run(ClusterMergeStats& stats) {
  insert_new();
  resize();
  for (ClusterId c = 0; c < alive_.size(); ++c) {
    if (alive_[c] && postings_.members(c).empty()) remove(c);
  }
  MergedClusters merged = finished();
  merged.centroids = finished_graph(merged.clusters);
  stats_.distances += scratch_.work.distances;
  stats_.estimates += scratch_.work.estimates;
  stats = stats_;
  return merged;
}

/// All threads choose, among the former clusters.
ClusterMerger::NewRows ClusterMerger::choose_for_new() {
  const std::size_t count = space_.count() - kept_;
  NewRows rows{std::vector<ClusterId>(count * options_.replicas),
               std::vector<std::uint32_t>(count)};
  std::vector<Neighborhood::Scratch> scratches(threads_);
  std::vector<std::vector<float>> places(threads_, std::vector<float>(dimension_));
  const std::uint32_t wanted = options_.replicas == 1 ? kCandidatesOfOne : kCandidates;
  Progress progress("new vectors", count, options_.quiet, options_.interrupted);
  parallel_for(count, kNewRowRun, threads_, [&](std::size_t from, std::size_t to, unsigned w) {
    for (std::size_t i = from; i < to; ++i) {
      space_.row(kept_ + i, places[w].data());
      neighborhood_.find_former(places[w].data(), wanted, scratches[w]);
      const std::vector<NearCluster>& near = scratches[w].search.found;
      const ReplicaRule::Chosen chosen =
          rule_.choose(near.front().cluster, near, &rows.clusters[i * options_.replicas]);
      rows.sizes[i] = chosen.clusters;
      scratches[w].work.distances += chosen.distances;
    }
    progress.advance(to - from);
  });
  for (const Neighborhood::Scratch& scratch : scratches) {
    stats_.distances += scratch.work.distances;
    stats_.estimates += scratch.work.estimates;
  }
  return rows;
}

void ClusterMerger::insert_new() {
  const NewRows rows = choose_for_new();
  for (std::size_t i = 0; i < rows.sizes.size(); ++i) {
    const std::span<const ClusterId> clusters(&rows.clusters[i * options_.replicas], rows.sizes[i]);
    postings_.put(static_cast<NodeId>(kept_ + i), clusters);
    for (const ClusterId c : clusters) touched_[c] = true;
  }
}

void ClusterMerger::resize() {
  for (ClusterId c = 0; c < former_; ++c) {
    largest_.push({postings_.members(c).size(), c});
    smallest_.push({postings_.members(c).size(), c});
  }
  Progress progress("clusters", options_.clusters, options_.quiet, options_.interrupted);
  const auto step = [&] { progress.advance(1); };
  while (clusters_ < options_.clusters && split_largest()) step();
  const double mean = static_cast<double>(postings_.memberships()) / static_cast<double>(clusters_);
  for (ClusterId c = 0; c < former_; ++c) {
    const auto members = static_cast<double>(postings_.members(c).size());
    const bool may_be = touched_[c] && !settled_[c] && members > double{options_.balance} * mean;
    if (may_be && split(c, double{options_.balance} * mean_own())) step();
  }
  while (clusters_ > options_.clusters && dissolve_smallest()) step();
}

/// Returns false when no cluster is left that can be split.
bool ClusterMerger::split_largest() {
  while (!largest_.empty()) {
    const Sized top = largest_.top();
    largest_.pop();
    const std::size_t members = postings_.members(top.cluster).size();
    if (!alive_[top.cluster] || settled_[top.cluster]) continue;
    if (members != top.members) {
      largest_.push({members, top.cluster});
    } else if (split(top.cluster, mean_own() / 2)) {
      return true;
    }
  }
  return false;
}

bool ClusterMerger::dissolve_smallest() {
  while (!smallest_.empty() && clusters_ > 1) {
    const Sized top = smallest_.top();
    smallest_.pop();
    const std::size_t members = postings_.members(top.cluster).size();
    if (!alive_[top.cluster]) continue;
    if (members != top.members) {
      smallest_.push({members, top.cluster});
      continue;
    }
    dissolve(top.cluster);
    return true;
  }
  return false;
}

/// Returns the clusters that are alive, in their order, without their graph.
MergedClusters ClusterMerger::finished() const {
  std::vector<ClusterId> numbers(alive_.size(), kGone);
  MergedClusters merged;
  Clustering& result = merged.clusters;
  result.space_dimension = dimension_;
  ClusterId next = 0;
  for (ClusterId c = 0; c < alive_.size(); ++c) {
    if (!alive_[c]) continue;
    numbers[c] = next++;
    merged.origins.push_back(origins_[c]);
    const auto begin =
        centroids_.begin() + static_cast<std::ptrdiff_t>(c * std::size_t{dimension_});
    result.centroids.insert(result.centroids.end(), begin, begin + dimension_);
  }
  result.begins.reserve(postings_.rows() + 1);
  result.begins.push_back(0);
  result.clusters.reserve(postings_.memberships());
  for (NodeId row = 0; row < postings_.rows(); ++row) {
    for (const ClusterId c : postings_.of(row)) result.clusters.push_back(numbers[c]);
    result.begins.push_back(result.clusters.size());
  }
  return merged;
}

graph::Graph ClusterMerger::finished_graph(const Clustering& clusters) {
  std::vector<NodeId> gone;
  for (ClusterId c = 0; c < former_; ++c) {
    if (!alive_[c]) gone.push_back(c);
  }
  return merge_centroid_graph({std::move(former_graph_), RowSet().with(gone), clusters.centroids,
                               dimension_, options_.seed, threads_},
                              stats_.centroid_distances);
}

MergedClusters merge_clusters(ClusterMerge merge, Metric metric, const ClusteringOptions& options,
                              ClusterMergeStats* stats) {
  if (merge.rows.count >= kInvalidNode) {
    throw Error("{} vectors are too many for one index: the limit is {}", merge.rows.count,
                kInvalidNode - 1);
  }
  FARVEC_CHECK(merge.rows.count > 0 && merge.former.count() > 0 && options.clusters > 0);
  FARVEC_CHECK(options.closure_ratio >= 1 && options.replicas >= 1 &&
               options.replicas <= kMaxReplicas);
  ClusterMergeStats counts;
  MergedClusters merged = ClusterMerger(merge, metric, options).run(counts);
  if (stats != nullptr) *stats = counts;
  return merged;
}

}  // namespace farvec::cluster
