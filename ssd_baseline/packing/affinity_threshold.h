// How near two vectors must be to be affine.
#pragma once

#include <cstdint>

#include "base/types.h"

namespace farvec::ssd_baseline {

/// The square of VeloANN's tau (section 3.4): the mean over the clusters of a sample of the 5th
/// percentile of the distances of their vectors to the centroid, in the space of graph::BuildSpace.
/// There are sqrt(count) clusters of 64 rows each, or of all rows when there are fewer. `data` is
/// in stored type. Deterministic, whatever `threads` is. 0 for fewer than two rows.
float affinity_threshold(const VectorView& data, Metric metric, std::uint64_t seed,
                         unsigned threads);

}  // namespace farvec::ssd_baseline
