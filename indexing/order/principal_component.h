// principal_component() finds the direction in which rows differ most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.h"

namespace farvec::indexing {

/// Returns the mean of all rows, `dimension` floats. The order of summing does not depend on
/// `threads`. There must be at least one row, and all must be finite.
std::vector<float> mean_of(const VectorView& rows, unsigned threads);

struct ComponentOptions {
  std::uint64_t seed = 1;
  unsigned threads = 1;  ///< already resolved; the component does not depend on it
  /// Most rows that it is found from: every n-th row, with the least n that leaves no more.
  std::size_t sample = 1 << 17;
};

/// Returns the first principal component of the rows about `mean`, of unit length, with its element
/// of largest magnitude positive; the first axis when the rows do not differ. The method is a
/// randomised SVD of one component: power iterations of a block of random directions (Halko,
/// Martinsson and Tropp, SIAM Review 53(2), 2011, algorithm 4.4) until the result no longer moves.
/// Every iteration reads the sample.
std::vector<float> principal_component(const VectorView& rows, const std::vector<float>& mean,
                                       const ComponentOptions& options);

}  // namespace farvec::indexing
