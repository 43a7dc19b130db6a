// The direction in which rows differ most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.h"

namespace farvec::indexing {

/// The mean of all rows, `dimension` floats. Summed in an order that does not depend on `threads`.
/// At least one row, all finite.
std::vector<float> mean_of(const VectorView& rows, unsigned threads);

struct ComponentOptions {
  std::uint64_t seed = 1;
  unsigned threads = 1;  ///< as resolved; the component does not depend on it
  /// Rows that it is found from: every n-th, with the least n that leaves no more.
  std::size_t sample = 1 << 17;
};

/// The first principal component of the rows about `mean`, of unit length, its element of largest
/// magnitude positive; the first axis when the rows do not differ. By a randomised SVD of one
/// component: power iterations of a block of random directions (Halko, Martinsson and Tropp, SIAM
/// Review 53(2), 2011, algorithm 4.4) until what comes out is still. Every iteration reads the
/// sample.
std::vector<float> principal_component(const VectorView& rows, const std::vector<float>& mean,
                                       const ComponentOptions& options);

}  // namespace farvec::indexing
