// These functions compute one number for each row, and order rows by such numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"

namespace farvec::indexing {

/// Each of these takes any number of rows, all finite. `threads` is already resolved, and no number
/// depends on it.
std::vector<float> first_elements(const VectorView& rows, unsigned threads);
/// Returns squared distances from the mean of the rows.
std::vector<float> distances_from_mean(const VectorView& rows, unsigned threads);
/// Returns places along a direction of normally distributed coordinates.
std::vector<float> random_projections(const VectorView& rows, std::uint64_t seed, unsigned threads);
/// Returns places along principal_component(), measured from the mean.
std::vector<float> principal_projections(const VectorView& rows, std::uint64_t seed,
                                         unsigned threads);

/// Returns the rows by ascending keys, and rows of equal keys by their numbers. A key that is NaN
/// counts as the largest; the projection of a finite row may be NaN when it overflows.
std::vector<NodeId> order_by_keys(const std::vector<float>& keys);

}  // namespace farvec::indexing
