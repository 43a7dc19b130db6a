// A ClusterMerger does one merge of clusters. It is for cluster_merge.cc and cluster_splits.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "cluster/balanced_kmeans.h"
#include "cluster/cluster_merge.h"
#include "cluster/neighborhood.h"
#include "cluster/postings.h"
#include "cluster/replica_rule.h"
#include "distance/distance.h"

namespace farvec::cluster {

/// A Sized is a cluster and the number of members that it had when this was noted.
struct Sized {
  std::size_t members = 0;
  ClusterId cluster = 0;

  bool operator<(const Sized& other) const {
    return members != other.members ? members < other.members : cluster > other.cluster;
  }
  bool operator>(const Sized& other) const { return other < *this; }
};

/// Does the steps of merge_clusters(). One thread uses it, except where a comment says so.
class ClusterMerger {
 public:
  /// Takes all of `merge` but its rows, which it borrows.
  ClusterMerger(ClusterMerge& merge, Metric metric, const ClusteringOptions& options);

  /// Runs the merge; call it once.
  MergedClusters run(ClusterMergeStats& stats);

 private:
  /// A Division is a cluster that is being split: `part` is new, the other half keeps the number of
  /// the whole.
  struct Division {
    ClusterId whole = 0;
    ClusterId part = 0;
    std::vector<float> before;    ///< centroid of the whole
    std::vector<ClusterId> near;  ///< clusters around it, perhaps itself among them
    std::vector<NodeId> own;      ///< vectors that have it as their own
    Split halves;                 ///< halves of `own`
  };
  /// NewRows has the clusters of new rows, `replicas` slots each, and how many each has.
  struct NewRows {
    std::vector<ClusterId> clusters;
    std::vector<std::uint32_t> sizes;
  };

  NewRows choose_for_new();
  void insert_new();
  void resize();
  bool split_largest();
  bool dissolve_smallest();
  bool split(ClusterId cluster, double least_own);
  void dissolve(ClusterId cluster);
  void remove(ClusterId cluster);
  std::vector<NodeId> own_rows(ClusterId cluster);
  Split halves_of(ClusterId cluster, const std::vector<NodeId>& own);
  ClusterId add_half(ClusterId whole, const Split& halves);
  void assign_halves(const Division& division);
  void assign_neighbors(const Division& division);
  void note_sizes(const Division& division);
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
  MergedClusters finished() const;
  graph::Graph finished_graph(const Clustering& clusters);

  const ClusteringOptions options_;
  const unsigned threads_;
  const Space space_;
  const std::uint32_t dimension_;
  const std::size_t former_;  ///< number of former clusters
  graph::Graph former_graph_;
  Neighborhood neighborhood_;
  std::vector<float> centroids_;
  std::vector<ClusterId> origins_;  ///< per cluster, the former cluster that it is a part of
  Postings postings_;
  const std::size_t kept_;     ///< rows of former; new rows follow
  std::vector<bool> alive_;    ///< per cluster
  std::vector<bool> touched_;  ///< got new rows
  std::vector<bool> settled_;  ///< is not split any more
  std::size_t clusters_;       ///< clusters that are alive
  const ReplicaRule rule_;
  const distance::PairKernel pair_;
  const distance::ManyKernel many_;
  std::vector<float> row_;  ///< coordinates of the present row
  std::vector<float> distances_;
  std::vector<NearCluster> near_;
  std::vector<std::uint32_t> seen_;  ///< the round in which each row was seen last
  std::uint32_t round_ = 0;
  Neighborhood::Scratch scratch_;
  std::priority_queue<Sized> largest_;
  std::priority_queue<Sized, std::vector<Sized>, std::greater<>> smallest_;
  ClusterMergeStats stats_;
};

}  // namespace farvec::cluster
