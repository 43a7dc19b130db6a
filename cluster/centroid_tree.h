// train_centroids() makes exactly as many centroids as asked for, by splitting the points
// repeatedly.
#pragma once

#include <cstdint>
#include <vector>

#include "base/progress.h"
#include "base/types.h"

namespace farvec::cluster {

struct TreeOptions {
  std::uint32_t centroids = 1;  ///< at most the number of rows
  float balance = 2.0f;         ///< size of the largest part of a split over its share
  std::uint64_t seed = 1;
  unsigned threads = 1;
  bool quiet = true;
  Interruption interrupted = {};
};

/// Does hierarchical balanced k-means: returns `centroids` rows of rows.dimension floats, each the
/// mean of at least one row. A node of the tree is split into at most 32 parts. The centroids that
/// the node has to yield are shared among its parts by their numbers of points, so that leaves are
/// equal in size everywhere. `rows` are f32. Deterministic for any number of threads. Memory beside
/// the rows: 24 bytes for each row.
std::vector<float> train_centroids(VectorView rows, const TreeOptions& options);

/// Distributes `seats` (at least one for each part that is not empty, at most `sizes[i]` for part
/// i) in proportion to the sizes, by D'Hondt's method. The sizes' sum is at least `seats`.
std::vector<std::uint32_t> apportion(const std::vector<std::uint64_t>& sizes, std::uint32_t seats);

}  // namespace farvec::cluster
