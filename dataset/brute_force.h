// Finds exact neighbours by comparing every query with every row.
#pragma once

#include <cstdint>
#include <functional>

#include "base/progress.h"
#include "base/types.h"
#include "dataset/groundtruth.h"
#include "dataset/vector_file.h"

namespace farvec::dataset {

/// Says how rows are compared. This room knows no kernels, so the caller supplies them.
struct ExactDistance {
  /// Computes the distance of two prepared rows of `dimension` elements; smaller is closer. Called
  /// from many threads.
  float (*pair)(const void* a, const void* b, std::uint32_t dimension) = nullptr;
  /// Converts a row of the files' type to the form that `pair` takes; null when no conversion is
  /// needed. Called from many threads.
  std::function<void(const std::byte* in, std::byte* out)> prepare;
  /// The element type of prepared rows.
  ElementType type = ElementType::f32;
};

struct BruteForceOptions {
  std::uint32_t k = 100;
  unsigned threads = 0;                 ///< 0: one per processor
  std::size_t block_bytes = 64u << 20;  ///< bytes of base rows in memory at a time
  bool quiet = false;                   ///< no progress line
  Interruption interrupted = {};
};

/// Returns the k nearest base rows of every query, nearest first; among equal distances the smaller
/// id comes first. The base is read once, block by block, and may be larger than memory; queries
/// and results are kept in memory. The result does not depend on threads or block size. Throws
/// Error when k is 0 or greater than the base, when dimensions or types differ, or when a row is
/// not finite or is too long (kMostSquaredLength) to be compared, and WorkInterrupted.
GroundTruth exact_neighbors(VectorReader& base, VectorReader& queries,
                            const ExactDistance& distance, const BruteForceOptions& options);

}  // namespace farvec::dataset
