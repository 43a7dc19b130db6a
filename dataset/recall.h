// Computes how many of the true neighbours a search found.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataset/groundtruth.h"

namespace farvec::dataset {

/// A distance counts as equal to the k-th true one when it exceeds it by at most this share of it:
/// eight steps of a float, for sums that were added up in another order. Integer distances below
/// one million stay apart.
inline constexpr float kTieEpsilon = 1e-6f;

/// ResultRows are the results of consecutive queries: row q starts at q * stride in both arrays.
/// Cells with an id of kInvalidNode are empty.
struct ResultRows {
  const NodeId* ids = nullptr;
  /// When it is nullptr, distances cannot be compared with those of the truth, so ids decide.
  const float* distances = nullptr;
  std::size_t queries = 0;
  std::size_t stride = 0;  ///< at least the k that is asked for
};

/// Returns the number of hits among the first k results of one query. A result is a hit when it is
/// one of the k true neighbours, or no farther than the k-th of them (so ties count); the same id
/// counts once. `query` is a row of `truth`. Without distances in `truth` only ids are compared.
std::uint32_t hits_at_k(const ResultRows& results, std::size_t row, const GroundTruth& truth,
                        std::size_t query, std::uint32_t k);

/// Returns the mean share of hits, 0 to 1, over all rows; row r answers query first_query + r of
/// `truth`. Throws Error when `truth` has fewer queries or fewer than k neighbours.
double recall_at_k(const ResultRows& results, const GroundTruth& truth, std::uint32_t k,
                   std::size_t first_query = 0);

}  // namespace farvec::dataset
