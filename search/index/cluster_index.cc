#include "search/index/cluster_index.h"

#include <utility>

#include "base/error.h"
#include "graph/candidate_list.h"

namespace farvec::search {

ClusterIndex::ClusterIndex(Parts parts)
    : parts_(std::move(parts)),
      kernel_(distance::many_kernel(parts_.metric, parts_.type, parts_.dimension)),
      centroid_kernel_(
          parts_.codes ? distance::pair_kernel(parts_.metric, ElementType::f32, parts_.dimension)
                       : nullptr) {
  static_assert(layout::kCodeBlock == quantization::kScanBlock);
  const layout::ClusterGeometry& geometry = parts_.locator.geometry();
  graph::require_node_count(geometry.count, "vectors");
  const std::size_t vector_bytes = packed_bytes(parts_.type, parts_.dimension);
  if (geometry.vector_bytes != vector_bytes) {
    throw Error("the index stores {} bytes per vector, but {} x {} needs {}", geometry.vector_bytes,
                parts_.dimension, to_string(parts_.type), vector_bytes);
  }
  if (parts_.centroids.count() != geometry.clusters) {
    throw Error("the index has {} clusters and {} centroids: rebuild it", geometry.clusters,
                parts_.centroids.count());
  }
  const std::uint32_t wanted = codes() != nullptr ? codes()->bytes(layout::kCodeBlock) : 0;
  if (geometry.code_block_bytes != wanted) {
    throw Error("the codes of {} members have {} bytes, but need {}: rebuild the index",
                layout::kCodeBlock, geometry.code_block_bytes, wanted);
  }
}

}  // namespace farvec::search
