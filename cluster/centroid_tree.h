// Exactly as many centroids as asked for, by splitting the points again and again.
#pragma once

#include <cstdint>
#include <vector>

#include "base/progress.h"
#include "base/types.h"

namespace farvec::cluster {

struct TreeOptions {
  std::uint32_t centroids = 1;  ///< at most the number of rows
  float balance = 2.0f;         ///< largest part of a split over its share
  std::uint64_t seed = 1;
  unsigned threads = 1;
  bool quiet = true;
  Interruption interrupted = {};
};

/// Hierarchical balanced k-means: `centroids` rows of rows.dimension floats, each the mean of at
/// least one row. A node of the tree is split into at most 32 parts; the centroids that are to come
/// out of it are shared among its parts by their numbers of points, so that leaves are equal in
/// size wherever they lie. `rows` are f32. Deterministic for any number of threads. Memory beside
/// the rows: 24 bytes for each.
std::vector<float> train_centroids(VectorView rows, const TreeOptions& options);

/// Shares `seats` (at least one for each part that is not empty, at most `sizes[i]` for part i)
/// in proportion to the sizes, by D'Hondt's method. The sizes' sum is at least `seats`.
std::vector<std::uint32_t> apportion(const std::vector<std::uint64_t>& sizes, std::uint32_t seats);

}  // namespace farvec::cluster
