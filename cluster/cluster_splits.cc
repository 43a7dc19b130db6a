// This file splits and dissolves clusters, and says where their vectors go.
#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/check.h"
#include "base/finite.h"
#include "cluster/cluster_merger.h"

namespace farvec::cluster {
namespace {

/// The number of clusters around a split or dissolved one whose vectors may change, and to which
/// its vectors may go.
constexpr std::uint32_t kNeighbors = 32;
/// The most vectors in a half of a split, over half of the vectors.
constexpr double kHalfBalance = 1.3;
/// When one half has a smaller share, the split has found nothing to divide.
constexpr double kLeastHalf = 0.125;
constexpr ClusterId kNone = std::numeric_limits<ClusterId>::max();

/// Replaces each centre by the nearest of its points.
void put_heads(const VectorView& points, Split& split) {
  std::vector<std::vector<NodeId>> parts(split.sizes.size());
  for (std::size_t i = 0; i < split.part_of.size(); ++i) {
    parts[split.part_of[i]].push_back(static_cast<NodeId>(i));
  }
  for (std::size_t part = 0; part < parts.size(); ++part) {
    write_nearest_to_mean(points, parts[part], &split.centers[part * points.dimension]);
  }
}

}  // namespace

/// The members for which none of their other clusters is nearer.
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
  const VectorView points = packed_view(rows.data(), own.size(), dimension_, ElementType::f32);
  Split halves = BalancedKmeans(points, all, options).run();
  if (options_.heads == HeadKind::vectors) put_heads(points, halves);
  if (options_.heads == HeadKind::rounded) space_.round(halves.centers);
  return halves;
}

/// Puts the halves' centroids into their places. Returns the number of the second half.
ClusterId ClusterMerger::add_half(ClusterId whole, const Split& halves) {
  const ClusterId part = postings_.add_cluster();
  const auto second = halves.centers.begin() + dimension_;
  centroids_.insert(centroids_.end(), second, halves.centers.end());
  std::copy(halves.centers.begin(), second, centroid(whole));
  neighborhood_.add(whole, part);
  origins_.push_back(origins_[whole]);
  alive_.push_back(true);
  touched_.push_back(false);
  settled_.push_back(false);
  ++clusters_;
  ++stats_.splits;
  return part;
}

/// Splits a cluster. One half keeps its number, and its place in the graph. False, with nothing
/// changed, when the cluster has fewer vectors of its own than `least_own`.
bool ClusterMerger::split(ClusterId cluster, double least_own) {
  settled_[cluster] = true;
  Division division;
  division.whole = cluster;
  division.own = own_rows(cluster);
  if (division.own.size() < 2 || static_cast<double>(division.own.size()) < least_own) return false;
  division.before.assign(centroid(cluster), centroid(cluster) + dimension_);
  division.near = neighborhood_.find(division.before.data(), kNeighbors, scratch_);
  division.halves = halves_of(cluster, division.own);
  division.part = add_half(cluster, division.halves);
  ++round_;
  assign_halves(division);
  assign_neighbors(division);
  note_sizes(division);
  return true;
}

void ClusterMerger::note_sizes(const Division& division) {
  const std::size_t smaller =
      std::min(postings_.members(division.whole).size(), postings_.members(division.part).size());
  const double share = static_cast<double>(smaller) / static_cast<double>(division.own.size());
  for (const ClusterId c : {division.whole, division.part}) {
    settled_[c] = share < kLeastHalf;
    largest_.push({postings_.members(c).size(), c});
    smallest_.push({postings_.members(c).size(), c});
  }
}

void ClusterMerger::add_own_clusters(NodeId row, std::vector<ClusterId>& candidates) const {
  for (const ClusterId c : postings_.of(row)) {
    if (!alive_[c]) continue;
    if (std::find(candidates.begin(), candidates.end(), c) == candidates.end()) {
      candidates.push_back(c);
    }
  }
}

/// Assigns all members of the whole: its own vectors among all clusters nearby, other clusters'
/// vectors among theirs and the new one.
void ClusterMerger::assign_halves(const Division& division) {
  const std::vector<NodeId> members = postings_.members(division.whole);
  std::vector<ClusterId> candidates;
  for (std::size_t i = 0; i < division.own.size(); ++i) {
    const NodeId row = division.own[i];
    (void)see(row);
    candidates = division.near;
    candidates.push_back(division.part);
    add_own_clusters(row, candidates);
    space_.row(row, row_.data());
    place(row, candidates, division.halves.part_of[i] == 0 ? division.whole : division.part);
  }
  for (const NodeId row : members) {
    if (!see(row)) continue;
    candidates = {division.part};
    add_own_clusters(row, candidates);
    space_.row(row, row_.data());
    place(row, candidates, kNone);
  }
}

/// Assigns vectors of other clusters to which a half is nearer than the whole was, because they may
/// belong to it now.
void ClusterMerger::assign_neighbors(const Division& division) {
  std::vector<ClusterId> candidates;
  for (const ClusterId neighbor : division.near) {
    const std::vector<NodeId> members = postings_.members(neighbor);
    for (const NodeId row : members) {
      if (!see(row)) continue;
      space_.row(row, row_.data());
      const float whole = distance_to(division.before.data());
      const float half =
          std::min(distance_to(centroid(division.whole)), distance_to(centroid(division.part)));
      if (half >= whole) continue;
      candidates = {division.whole, division.part};
      add_own_clusters(row, candidates);
      place(row, candidates, kNone);
    }
  }
}

/// Puts the row in row_ into the nearest of the candidates, each of which is alive and occurs once;
/// `preferred` wins against another one that is equally near.
void ClusterMerger::place(NodeId row, std::vector<ClusterId>& candidates, ClusterId preferred) {
  distances_.resize(candidates.size());
  many_(
      row_.data(),
      packed_view(centroids_.data(), centroids_.size() / dimension_, dimension_, ElementType::f32),
      candidates, distances_.data());
  stats_.distances += candidates.size();
  near_.clear();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    near_.push_back({candidates[i], orderable(distances_[i])});
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

}  // namespace farvec::cluster
