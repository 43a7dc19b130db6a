#include "search/cluster_index.h"

#include <utility>

#include "base/error.h"
#include "graph/candidate_list.h"

namespace farvec::search {

ClusterIndex::ClusterIndex(Parts parts)
    : parts_(std::move(parts)),
      kernel_(distance::many_kernel(parts_.metric, parts_.type, parts_.dimension)) {
  const layout::ClusterGeometry& geometry = parts_.locator.geometry();
  graph::require_node_count(geometry.count, "vectors");
  const std::size_t vector_bytes = parts_.dimension * element_bytes(parts_.type);
  if (geometry.vector_bytes != vector_bytes) {
    throw Error("the index stores {} bytes per vector, but {} x {} needs {}", geometry.vector_bytes,
                parts_.dimension, to_string(parts_.type), vector_bytes);
  }
  if (parts_.centroids.count() != geometry.clusters) {
    throw Error("the index has {} clusters and {} centroids: rebuild it", geometry.clusters,
                parts_.centroids.count());
  }
}

}  // namespace farvec::search
