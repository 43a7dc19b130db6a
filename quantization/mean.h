// Computes the mean of many rows.
#pragma once

#include <vector>

#include "base/types.h"

namespace farvec::quantization {

/// Returns the mean, `data.dimension` floats, the same for any number of threads. There must be at
/// least one row.
std::vector<float> mean_row(VectorView data, unsigned threads);

}  // namespace farvec::quantization
