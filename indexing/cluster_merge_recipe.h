// merge_clusters() makes the next cluster index from a stored one and what has changed since.
#pragma once

#include "cluster/cluster_merge.h"
#include "cluster/clustering.h"
#include "indexing/joined_rows.h"
#include "indexing/stored_clusters.h"

namespace farvec::indexing {

/// Returns the stored clusters without the rows that go and with those that come. The former rows
/// that stay come first, in their order, then the new ones. The work is cluster::merge_clusters().
/// The clusters are built anew, and `stats` are not written, where former has fewer than 64
/// clusters or where at least eight times the rows that stay come. A cluster keeps the probes that
/// were counted of the former one that it is; both halves of a cluster that was split keep all of
/// them. Clusters that are built anew have none. `options` say how many clusters there are to be,
/// and what replicas there are where rows come or move; a closure ratio of 0 means former's. The
/// manifest names no file as the source of the joined rows. StoredClusters::built() turns the
/// result into what write_clusters() takes, and another merge may follow. Memory at most: former,
/// `more` and the joined rows together, then the joined rows and what cluster::merge_clusters()
/// needs. Throws Error where join_rows() and cluster::merge_clusters() do.
StoredClusters merge_clusters(StoredClusters former, IndexChanges changes,
                              cluster::ClusteringOptions options,
                              cluster::ClusterMergeStats* stats = nullptr);

/// JoinedRowSet are the rows of the next index where the caller has joined them: those of the
/// former one that are not out, in their order, and then others.
struct JoinedRowSet {
  RowSet out;
  dataset::VectorSet rows;
};

/// Does what merge_clusters() does with rows that are joined already. Those that stay need not be
/// the former ones bit by bit, but lie where these lay.
StoredClusters merge_joined_clusters(StoredClusters former, JoinedRowSet joined,
                                     cluster::ClusteringOptions options,
                                     cluster::ClusterMergeStats* stats = nullptr);

}  // namespace farvec::indexing
