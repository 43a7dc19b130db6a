// One number for each row, by which rows are ordered.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"

namespace farvec::indexing {

/// All take any number of rows, all finite; `threads` is as resolved, and no number depends on it.
std::vector<float> first_elements(const VectorView& rows, unsigned threads);
/// Squared distances from the mean of the rows.
std::vector<float> distances_from_mean(const VectorView& rows, unsigned threads);
/// Along a direction of normally distributed coordinates.
std::vector<float> random_projections(const VectorView& rows, std::uint64_t seed, unsigned threads);
/// Along principal_component(), from the mean.
std::vector<float> principal_projections(const VectorView& rows, std::uint64_t seed,
                                         unsigned threads);

/// The rows by ascending keys, those of equal keys by their numbers. A key that is NaN, as the
/// projection of a finite row may be when it overflows, counts as the largest.
std::vector<NodeId> order_by_keys(const std::vector<float>& keys);

}  // namespace farvec::indexing
