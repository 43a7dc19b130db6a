// Merge: clusters without some of their vectors and with new ones, at the cost of what changes.
// Sources: Xu et al., SPFresh (SOSP 2023; arXiv 2410.14452) for postings that are split, and for
// which vectors near a split are assigned again.
#pragma once

#include <cstdint>
#include <vector>

#include "base/row_set.h"
#include "base/types.h"
#include "cluster/clustering.h"
#include "cluster/space.h"
#include "graph/graph.h"

namespace farvec::cluster {

/// What a merge is made of.
struct ClusterMerge {
  Clustering former;  ///< of build_clusters() or merge_clusters(); in each vector's clusters
                      ///< any may come first
  graph::Graph centroids{0, 1};  ///< over former's
  RowSet out;                    ///< of former's vectors
  Space::Reach reach;            ///< of the space of former
  /// First the rows of former's vectors that are not out, in their order, then new ones. Stored
  /// type; must outlive the call.
  VectorView rows;
};

struct MergedClusters {
  Clustering clusters;
  graph::Graph centroids{0, 1};  ///< over them
  /// Of each of them: which of former's it is, or was a part of.
  std::vector<ClusterId> origins;
};

/// Distances between vectors, centroids or both; estimates are half a distance each or less.
struct ClusterMergeStats {
  std::uint64_t distances = 0;
  std::uint64_t estimates = 0;           ///< of centroids, from their codes
  std::uint64_t centroid_distances = 0;  ///< of the graph over the centroids
  std::uint64_t splits = 0;
  std::uint64_t dissolved = 0;  ///< clusters whose vectors went to others
  std::uint64_t moved = 0;      ///< vectors of former that were given other clusters
};

/// Clusters of merge.rows. New rows go into the clusters of former that are nearest, by the rule of
/// build_clusters() for further ones, whatever their size. Then the largest clusters are split (in
/// two halves about equal, by the vectors that have it as their own) until there are
/// options.clusters of them, and beyond that those that have several times as many members as the
/// mean; the smallest are dissolved where there are more. After a split or a dissolution the
/// vectors of that cluster, and those of its neighbours that the new centroids have come nearer to,
/// are assigned again among the clusters nearby. Clusters without a vector go.
///
/// options.closure_ratio is former's, at least 1; sample, refinements and chunk_rows are not looked
/// at. The result is the same for any number of threads. Beside copying and a distance for each
/// centroid, work goes with what comes and goes, not with former's size. Memory beside the rows:
/// 36 bytes for each, 4 for each membership, and the centroids twice with graph and codes.
///
/// Throws Error as build_clusters() does, and WorkInterrupted.
MergedClusters merge_clusters(ClusterMerge merge, Metric metric, const ClusteringOptions& options,
                              ClusterMergeStats* stats = nullptr);

}  // namespace farvec::cluster
