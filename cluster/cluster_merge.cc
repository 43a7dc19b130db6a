#include "cluster/cluster_merge.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "cluster/assignment.h"
#include "cluster/balanced_kmeans.h"
#include "cluster/neighborhood.h"
#include "cluster/postings.h"
#include "cluster/replica_rule.h"
#include "distance/distance.h"

namespace farvec::cluster {
namespace {

constexpr std::size_t kNewRowRun = 256;
/// Clusters around one that is split or dissolved whose vectors may change, and which these may
/// come to.
constexpr std::uint32_t kNeighbors = 32;
/// Most vectors of a half of a split, over half of them.
constexpr double kHalfBalance = 1.3;
/// A split of which one half has a smaller share has found nothing to divide.
constexpr double kLeastHalf = 0.125;
constexpr ClusterId kNone = std::numeric_limits<ClusterId>::max();

/// A cluster by its members, as they were when this was noted.
struct Sized {
  std::size_t members = 0;
  ClusterId cluster = 0;

  bool operator<(const Sized& other) const {
    return members != other.members ? members < other.members : cluster > other.cluster;
  }
  bool operator>(const Sized& other) const { return other < *this; }
};

graph::Graph copy_of(const graph::Graph& graph) {
  graph::Graph copy(graph.count(), graph.row_capacity());
  for (std::size_t v = 0; v < graph.count(); ++v) copy.set_neighbors(v, graph.neighbors(v));
  copy.entry = graph.entry;
  return copy;
}

class ClusterMerger {
 public:
  ClusterMerger(ClusterMerge& merge, Metric metric, const ClusteringOptions& options)
      : options_(options),
        threads_(resolve_threads(options.threads)),
        space_(merge.rows, metric, merge.reach),
        dimension_(space_.dimension()),
        former_(merge.former.count()),
        former_graph_(copy_of(merge.centroids)),
        neighborhood_(merge.former, std::move(merge.centroids), threads_),
        centroids_(std::move(merge.former.centroids)),
        postings_(merge.rows.count, former_),
        kept_(postings_.take(merge.former.membership(), merge.out)),
        alive_(former_, true),
        touched_(former_, false),
        settled_(former_, false),
        clusters_(former_),
        rule_(centroids_, dimension_,
              {options.replicas, options.closure_ratio, options.rng_factor}),
        pair_(distance::pair_kernel(Metric::l2, ElementType::f32, dimension_)),
        many_(distance::many_kernel(Metric::l2, ElementType::f32, dimension_)),
        row_(dimension_),
        seen_(merge.rows.count, 0) {
    merge.former = {};
  }

  MergedClusters run(ClusterMergeStats& stats) {
    insert_new();
    resize();
    for (ClusterId c = 0; c < alive_.size(); ++c) {
      if (alive_[c] && postings_.members(c).empty()) remove(c);
    }
    MergedClusters merged{finished(), graph::Graph(0, 1)};
    merged.centroids = finished_graph(merged.clusters);
    stats_.distances += scratch_.work.distances;
    stats_.estimates += scratch_.work.estimates;
    stats = stats_;
    return merged;
  }

 private:
  void insert_new();
  void resize();
  bool split_largest();
  bool dissolve_smallest();
  bool split(ClusterId cluster, double least_own);
  void dissolve(ClusterId cluster);
  void remove(ClusterId cluster);
  std::vector<NodeId> own_rows(ClusterId cluster);
  Split halves_of(ClusterId cluster, const std::vector<NodeId>& own);
  void assign_halves(ClusterId cluster, ClusterId part, const std::vector<NodeId>& own,
                     const Split& halves, const std::vector<ClusterId>& near);
  void assign_neighbors(ClusterId cluster, ClusterId part, const float* before,
                        const std::vector<ClusterId>& near);
  void place(NodeId row, std::vector<ClusterId>& candidates, ClusterId preferred);
  void add_own_clusters(NodeId row, std::vector<ClusterId>& candidates) const;
  bool see(NodeId row) {
    if (seen_[row] == round_) return false;
    seen_[row] = round_;
    return true;
  }
  float* centroid(ClusterId c) { return &centroids_[c * std::size_t{dimension_}]; }
  float distance_to(const float* place) {
    ++stats_.distances;
    return pair_(row_.data(), place, dimension_);
  }
  double mean_own() const {
    return static_cast<double>(space_.count()) / static_cast<double>(clusters_);
  }
  Clustering finished() const;
  graph::Graph finished_graph(const Clustering& clusters);

  const ClusteringOptions options_;
  const unsigned threads_;
  const Space space_;
  const std::uint32_t dimension_;
  const std::size_t former_;  ///< clusters
  graph::Graph former_graph_;
  Neighborhood neighborhood_;
  std::vector<float> centroids_;
  Postings postings_;
  const std::size_t kept_;     ///< rows of former; new ones follow
  std::vector<bool> alive_;    ///< by cluster
  std::vector<bool> touched_;  ///< got new rows
  std::vector<bool> settled_;  ///< is not split any more
  std::size_t clusters_;       ///< that are alive
  const ReplicaRule rule_;
  const distance::PairKernel pair_;
  const distance::ManyKernel many_;
  std::vector<float> row_;  ///< the coordinates of the row that is looked at
  std::vector<float> distances_;
  std::vector<NearCluster> near_;
  std::vector<std::uint32_t> seen_;  ///< the round in which each row was seen last
  std::uint32_t round_ = 0;
  Neighborhood::Scratch scratch_;
  std::priority_queue<Sized> largest_;
  std::priority_queue<Sized, std::vector<Sized>, std::greater<>> smallest_;
  ClusterMergeStats stats_;
};

/// By all threads against the former clusters, then one row after the other into the lists.
void ClusterMerger::insert_new() {
  const std::size_t count = space_.count() - kept_;
  std::vector<ClusterId> chosen(count * options_.replicas);
  std::vector<std::uint32_t> sizes(count);
  std::vector<Neighborhood::Scratch> scratches(threads_);
  std::vector<std::vector<float>> rows(threads_, std::vector<float>(dimension_));
  const std::uint32_t wanted = options_.replicas == 1 ? kCandidatesOfOne : kCandidates;
  Progress progress("new vectors", count, options_.quiet, options_.interrupted);
  parallel_for(count, kNewRowRun, threads_, [&](std::size_t from, std::size_t to, unsigned w) {
    for (std::size_t i = from; i < to; ++i) {
      space_.row(kept_ + i, rows[w].data());
      neighborhood_.find_former(rows[w].data(), wanted, scratches[w]);
      const std::vector<NearCluster>& near = scratches[w].search.found;
      const ReplicaRule::Chosen one =
          rule_.choose(near.front().cluster, near, &chosen[i * options_.replicas]);
      sizes[i] = one.clusters;
      scratches[w].work.distances += one.distances;
    }
    progress.advance(to - from);
  });
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const ClusterId> own(&chosen[i * options_.replicas], sizes[i]);
    postings_.put(static_cast<NodeId>(kept_ + i), own);
    for (const ClusterId c : own) touched_[c] = true;
  }
  for (const Neighborhood::Scratch& scratch : scratches) {
    stats_.distances += scratch.work.distances;
    stats_.estimates += scratch.work.estimates;
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

/// False when none is left that can be split.
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

/// Members to which no other of their clusters is nearer.
std::vector<NodeId> ClusterMerger::own_rows(ClusterId cluster) {
  std::vector<NodeId> own;
  for (const NodeId row : postings_.members(cluster)) {
    space_.row(row, row_.data());
    const float mine = distance_to(centroid(cluster));
    const auto clusters = postings_.of(row);
    const bool is_own = std::none_of(clusters.begin(), clusters.end(), [&](ClusterId c) {
      return c != cluster && distance_to(centroid(c)) < mine;
    });
    if (is_own) own.push_back(row);
  }
  return own;
}

Split ClusterMerger::halves_of(ClusterId cluster, const std::vector<NodeId>& own) {
  std::vector<float> rows(own.size() * dimension_);
  for (std::size_t i = 0; i < own.size(); ++i) space_.row(own[i], &rows[i * dimension_]);
  std::vector<NodeId> all(own.size());
  std::iota(all.begin(), all.end(), NodeId{0});
  SplitOptions options;
  options.parts = 2;
  const double half = static_cast<double>(own.size()) / 2;
  options.largest = std::max<std::uint64_t>((own.size() + 1) / 2,
                                            static_cast<std::uint64_t>(half * kHalfBalance));
  options.seed = options_.seed + cluster;
  options.threads = 1;
  stats_.distances += own.size() * options.parts * options.iterations;  // at most
  return BalancedKmeans(packed_view(rows.data(), own.size(), dimension_, ElementType::f32), all,
                        options)
      .run();
}

/// One half keeps the cluster's number, and its place in the graph. False, and nothing has changed,
/// when the cluster has fewer vectors of its own than `least_own`.
bool ClusterMerger::split(ClusterId cluster, double least_own) {
  settled_[cluster] = true;
  const std::vector<NodeId> own = own_rows(cluster);
  if (own.size() < 2 || static_cast<double>(own.size()) < least_own) return false;
  const std::vector<float> before(centroid(cluster), centroid(cluster) + dimension_);
  const std::vector<ClusterId> near = neighborhood_.find(before.data(), kNeighbors, scratch_);
  const Split halves = halves_of(cluster, own);
  const ClusterId part = postings_.add_cluster();
  centroids_.insert(centroids_.end(), halves.centers.begin() + dimension_, halves.centers.end());
  std::copy_n(halves.centers.begin(), dimension_, centroid(cluster));
  neighborhood_.add(cluster, part);
  alive_.push_back(true);
  touched_.push_back(false);
  settled_.push_back(false);
  ++clusters_;
  ++stats_.splits;
  ++round_;
  assign_halves(cluster, part, own, halves, near);
  assign_neighbors(cluster, part, before.data(), near);
  const std::size_t smaller =
      std::min(postings_.members(cluster).size(), postings_.members(part).size());
  for (const ClusterId c : {cluster, part}) {
    settled_[c] = static_cast<double>(smaller) < kLeastHalf * static_cast<double>(own.size());
    largest_.push({postings_.members(c).size(), c});
    smallest_.push({postings_.members(c).size(), c});
  }
  return true;
}

void ClusterMerger::add_own_clusters(NodeId row, std::vector<ClusterId>& candidates) const {
  for (const ClusterId c : postings_.of(row)) {
    if (!alive_[c]) continue;
    if (std::find(candidates.begin(), candidates.end(), c) == candidates.end()) {
      candidates.push_back(c);
    }
  }
}

/// All members of a cluster of which `part` has split off: its own among all clusters nearby, those
/// of others among theirs and the new one.
void ClusterMerger::assign_halves(ClusterId cluster, ClusterId part, const std::vector<NodeId>& own,
                                  const Split& halves, const std::vector<ClusterId>& near) {
  const std::vector<NodeId> members = postings_.members(cluster);
  std::vector<ClusterId> candidates;
  for (std::size_t i = 0; i < own.size(); ++i) {
    (void)see(own[i]);
    candidates = near;
    candidates.push_back(part);
    add_own_clusters(own[i], candidates);
    space_.row(own[i], row_.data());
    place(own[i], candidates, halves.part_of[i] == 0 ? cluster : part);
  }
  for (const NodeId row : members) {
    if (!see(row)) continue;
    candidates = {part};
    add_own_clusters(row, candidates);
    space_.row(row, row_.data());
    place(row, candidates, kNone);
  }
}

/// Vectors of other clusters to which a half is nearer than the whole was may belong to it now.
void ClusterMerger::assign_neighbors(ClusterId cluster, ClusterId part, const float* before,
                                     const std::vector<ClusterId>& near) {
  std::vector<ClusterId> candidates;
  for (const ClusterId neighbor : near) {
    const std::vector<NodeId> members = postings_.members(neighbor);
    for (const NodeId row : members) {
      if (!see(row)) continue;
      space_.row(row, row_.data());
      const float whole = distance_to(before);
      if (std::min(distance_to(centroid(cluster)), distance_to(centroid(part))) >= whole) continue;
      candidates = {cluster, part};
      add_own_clusters(row, candidates);
      place(row, candidates, kNone);
    }
  }
}

/// The row at row_ goes to the nearest of the candidates, each of which is alive and there once;
/// `preferred` is nearer than another one that is as near.
void ClusterMerger::place(NodeId row, std::vector<ClusterId>& candidates, ClusterId preferred) {
  distances_.resize(candidates.size());
  many_(
      row_.data(),
      packed_view(centroids_.data(), centroids_.size() / dimension_, dimension_, ElementType::f32),
      candidates, distances_.data());
  stats_.distances += candidates.size();
  near_.clear();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    near_.push_back({candidates[i], distances_[i]});
  }
  const auto rank = [&](const NearCluster& near) {
    return std::tuple(near.distance, near.cluster != preferred, near.cluster);
  };
  std::sort(near_.begin(), near_.end(),
            [&](const NearCluster& a, const NearCluster& b) { return rank(a) < rank(b); });
  ClusterId chosen[kMaxReplicas];
  const ReplicaRule::Chosen one = rule_.choose(near_.front().cluster, near_, chosen);
  stats_.distances += one.distances;
  if (row < kept_) ++stats_.moved;
  postings_.put(row, {chosen, one.clusters});
}

void ClusterMerger::remove(ClusterId cluster) {
  alive_[cluster] = false;
  neighborhood_.remove(cluster);
  --clusters_;
}

void ClusterMerger::dissolve(ClusterId cluster) {
  remove(cluster);
  ++stats_.dissolved;
  const std::vector<ClusterId> near = neighborhood_.find(centroid(cluster), kNeighbors, scratch_);
  const std::vector<NodeId> members = postings_.members(cluster);
  std::vector<ClusterId> candidates;
  for (const NodeId row : members) {
    candidates = near;
    add_own_clusters(row, candidates);
    FARVEC_CHECK(!candidates.empty(), "no cluster is near cluster {}", cluster);
    space_.row(row, row_.data());
    place(row, candidates, kNone);
  }
}

/// Those that are alive, in their order.
Clustering ClusterMerger::finished() const {
  std::vector<ClusterId> numbers(alive_.size(), kNone);
  Clustering result;
  result.space_dimension = dimension_;
  ClusterId next = 0;
  for (ClusterId c = 0; c < alive_.size(); ++c) {
    if (!alive_[c]) continue;
    numbers[c] = next++;
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
  return result;
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

}  // namespace

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
