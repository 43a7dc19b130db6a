// merge_clusters() makes clusters without some of their vectors and with new ones, at the cost of
// what changes. Sources: Xu et al., SPFresh (SOSP 2023; arXiv 2410.14452) for postings that are
// split, and for which vectors near a split are assigned again.
#pragma once

#include <cstdint>
#include <vector>

#include "base/row_set.h"
#include "base/types.h"
#include "cluster/clustering.h"
#include "cluster/space.h"
#include "graph/graph.h"

namespace farvec::cluster {

/// A ClusterMerge is the input of a merge.
struct ClusterMerge {
  Clustering former;  ///< made by build_clusters() or merge_clusters(); any of a vector's clusters
                      ///< may come first
  graph::Graph centroids{0, 1};  ///< over former's centroids
  RowSet out;                    ///< those of former's vectors that are out
  Space::Reach reach;            ///< from the space of former
  /// First the rows of former's vectors that are not out, in their order, then new ones. Stored
  /// type; must outlive the call.
  VectorView rows;
};

struct MergedClusters {
  Clustering clusters;
  graph::Graph centroids{0, 1};  ///< over these clusters' centroids
  /// For each cluster, the former cluster that it is or was a part of.
  std::vector<ClusterId> origins;
};

/// Counts distances between vectors, centroids or both; an estimate costs half a distance or less.
struct ClusterMergeStats {
  std::uint64_t distances = 0;
  std::uint64_t estimates = 0;           ///< estimates of centroids from their codes
  std::uint64_t centroid_distances = 0;  ///< distances computed for the graph over the centroids
  std::uint64_t splits = 0;
  std::uint64_t dissolved = 0;  ///< clusters whose vectors went to others
  std::uint64_t moved = 0;      ///< former vectors that were given other clusters
};

/// Returns clusters of merge.rows. New rows go into the nearest clusters of former, whatever their
/// size, with further clusters by the rule of build_clusters(). Then the largest clusters are split
/// (into two halves of about equal size, counted in vectors that have the cluster as their own)
/// until there are options.clusters clusters. After that, clusters that have several times the mean
/// number of members are split too. Where there are more than options.clusters, the smallest are
/// dissolved. After a split or a dissolution the vectors of that cluster, and those vectors of its
/// neighbours to which the new centroids are nearer, are assigned again among the clusters nearby.
/// Clusters without a vector go.
///
/// options.closure_ratio is former's, at least 1; sample, refinements and chunk_rows are ignored.
/// The result is the same for any number of threads. Apart from copying and a distance for each
/// centroid, the work depends on what comes and goes, not on former's size. Memory beside the rows:
/// 36 bytes for each row, 4 for each membership, and the centroids twice with graph and codes.
///
/// Throws Error like build_clusters(), and WorkInterrupted.
MergedClusters merge_clusters(ClusterMerge merge, Metric metric, const ClusteringOptions& options,
                              ClusterMergeStats* stats = nullptr);

}  // namespace farvec::cluster
