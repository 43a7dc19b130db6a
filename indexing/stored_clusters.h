// The clusters and the vectors of an index that is there already.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/clustering.h"
#include "dataset/vector_set.h"
#include "graph/graph.h"
#include "indexing/cluster_recipe.h"
#include "layout/index/index_directory.h"

namespace farvec::indexing {

/// What an index of clusters holds.
struct StoredClusters {
  layout::Manifest manifest;  ///< without regions and placement
  dataset::VectorSet rows;    ///< stored type
  /// Of every vector first the cluster that it is at home in, then the others, ascending.
  cluster::Clustering clusters;
  graph::Graph centroids{0, 1};  ///< over the centroids
  /// How often each cluster was probed, as far as somebody has counted; empty: nobody has.
  std::vector<std::uint64_t> probes = {};

  /// For write_clusters(): each vector with that of its clusters which is probed most, where there
  /// are as many probes as clusters, or else as build_clusters() does. Borrows the rows.
  BuiltClusters built(unsigned threads) &&;
  /// The same with a home for each vector, one of its clusters.
  BuiltClusters grouped(std::vector<ClusterId> homes) &&;
};

/// Reads everything, checking every checksum. Memory: the records, the vectors and 12 bytes a
/// member. Throws Error when the index is none of clusters, or contradicts itself.
StoredClusters read_clusters(const layout::IndexDirectory& directory,
                             const layout::LoadOptions& options);

}  // namespace farvec::indexing
