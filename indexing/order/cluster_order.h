// Rows in the order of their clusters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"

namespace farvec::indexing {

struct ClusterOrderOptions {
  std::size_t chunk_rows = 10'000;  ///< that are clustered at a time
  std::uint32_t clusters = 10;      ///< in every chunk
  std::uint64_t seed = 1;
  unsigned threads = 1;  ///< as resolved; the order does not depend on it
};

/// Takes `order` (each row of `rows` once) chunk by chunk, and puts the rows of each chunk into an
/// order of its clusters, found by k-means in Euclidean distance. The clusters of a chunk follow
/// each other so that each is the nearest, by centroid, of those that are left to the one before,
/// the first to the last of the chunk before. Inside a cluster the rows go from where the path
/// comes from to where it goes: by their places along the line from the centroid before to the
/// centroid after. Memory for each thread: a chunk as f32. Throws Error for chunks or clusters of
/// none.
std::vector<NodeId> order_by_clusters(const VectorView& rows, std::span<const NodeId> order,
                                      const ClusterOrderOptions& options);

}  // namespace farvec::indexing
