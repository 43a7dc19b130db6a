// Exact neighbours by comparing every query with every row.
#pragma once

#include <cstdint>
#include <functional>

#include "base/progress.h"
#include "base/types.h"
#include "dataset/groundtruth.h"
#include "dataset/vector_file.h"

namespace farvec::dataset {

/// How rows are compared. This room knows no kernels; whoever calls brings them.
struct ExactDistance {
  /// Distance of two prepared rows of `dimension` elements, smaller is closer. Called from many
  /// threads.
  float (*pair)(const void* a, const void* b, std::uint32_t dimension) = nullptr;
  /// Turns a row of the files' type into what `pair` takes, or null when it is taken as it is.
  /// Called from many threads.
  std::function<void(const std::byte* in, std::byte* out)> prepare;
  /// The element type of prepared rows.
  ElementType type = ElementType::f32;
};

struct BruteForceOptions {
  std::uint32_t k = 100;
  unsigned threads = 0;                 ///< 0: one per processor
  std::size_t block_bytes = 64u << 20;  ///< base rows held at a time
  bool quiet = false;                   ///< no progress line
  Interruption interrupted = {};
};

/// The k nearest base rows of every query, nearest first, equal distances by the smaller id. The
/// base is read once, block by block, and may be larger than memory; queries and results are held.
/// The result does not depend on threads or block size. Throws Error when k is 0 or greater than
/// the base, when dimensions or types differ, or when a row is not finite or is too long
/// (kMostSquaredLength) to be compared, and WorkInterrupted.
GroundTruth exact_neighbors(VectorReader& base, VectorReader& queries,
                            const ExactDistance& distance, const BruteForceOptions& options);

}  // namespace farvec::dataset
