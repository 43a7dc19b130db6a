// From a cluster index that is there already, and what has changed since, to the next one.
#pragma once

#include "cluster/cluster_merge.h"
#include "cluster/clustering.h"
#include "indexing/joined_rows.h"
#include "indexing/stored_clusters.h"

namespace farvec::indexing {

/// The stored clusters without the rows that are out and with those that come: first the former
/// rows that stay, in their order, then the new ones (cluster::merge_clusters(), or built anew
/// where there were fewer than 64 clusters or eight times the rows that stay come: `stats` then
/// stay as they are). Clusters keep the probes that were counted of what they were, both halves of
/// one that was split all of them; those that are built anew have none. `options` say how many
/// clusters there are to be, and what replicas there are where rows come or move; a closure ratio
/// of 0 is former's. The manifest names no file as the source of the joined rows;
/// StoredClusters::built() gives it to write_clusters(), and another merge may follow. Memory at
/// most: former, `more` and the joined rows together, then the joined rows and what
/// cluster::merge_clusters() needs. Throws Error as join_rows() and cluster::merge_clusters() do.
StoredClusters merge_clusters(StoredClusters former, IndexChanges changes,
                              cluster::ClusteringOptions options,
                              cluster::ClusterMergeStats* stats = nullptr);

}  // namespace farvec::indexing
