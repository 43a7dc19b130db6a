// order_by_clusters() puts rows into an order in which rows of one cluster follow each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"

namespace farvec::indexing {

struct ClusterOrderOptions {
  std::size_t chunk_rows = 10'000;  ///< rows that are clustered at a time
  std::uint32_t clusters = 10;      ///< clusters in every chunk
  std::uint64_t seed = 1;
  unsigned threads = 1;  ///< already resolved; the order does not depend on it
};

/// Takes `order` (each row of `rows` once) chunk by chunk, and puts the rows of each chunk into an
/// order of its clusters, which k-means finds in Euclidean distance. Each cluster of a chunk is
/// followed by the one whose centroid is nearest among those that are left; the first is nearest to
/// the last of the chunk before. Inside a cluster the rows go from where the path comes from to
/// where it goes: by their places along the line from the centroid before to the centroid after.
/// Memory for each thread: a chunk as f32. Throws Error for chunks of no rows, and for no clusters.
std::vector<NodeId> order_by_clusters(const VectorView& rows, std::span<const NodeId> order,
                                      const ClusterOrderOptions& options);

}  // namespace farvec::indexing
