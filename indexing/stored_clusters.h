// read_clusters() reads the clusters and the vectors of a stored index.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/clustering.h"
#include "dataset/vector_set.h"
#include "graph/graph.h"
#include "indexing/cluster_recipe.h"
#include "layout/index/index_directory.h"

namespace farvec::indexing {

/// StoredClusters are what an index of clusters holds.
struct StoredClusters {
  layout::Manifest manifest;  ///< without regions and placement
  dataset::VectorSet rows;    ///< stored type
  /// For every vector first the cluster that is its home, then the others, ascending.
  cluster::Clustering clusters;
  graph::Graph centroids{0, 1};  ///< over the centroids
  /// How often each cluster was probed, as far as that was counted; empty: it was not.
  std::vector<std::uint64_t> probes = {};

  /// Returns what write_clusters() takes. Where there are at least as many probes as clusters, the
  /// home of a vector is that of its clusters which is probed most; otherwise homes are those of
  /// build_clusters(). Borrows the rows.
  BuiltClusters built(unsigned threads) &&;
  /// Returns the same with this home for each vector, one of its clusters.
  BuiltClusters grouped(std::vector<ClusterId> homes) &&;
};

/// Reads everything and checks every checksum. Memory: the records, the vectors and 12 bytes a
/// member. Throws Error when the index is not one of clusters, or contradicts itself.
StoredClusters read_clusters(const layout::IndexDirectory& directory,
                             const layout::LoadOptions& options);

}  // namespace farvec::indexing
