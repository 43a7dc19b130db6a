// How near two vectors must be to be affine.
#pragma once

#include <cstdint>

#include "base/types.h"

namespace farvec::ssd_baseline {

/// Of the distances of a cluster's vectors to the centroid, in percent: VeloANN's.
inline constexpr double kAffinityPercentile = 5;

/// The square of VeloANN's tau (section 3.4): the mean over the clusters of a sample of a
/// percentile (0 to 100) of the distances of their vectors to the centroid, in the space of
/// graph::BuildSpace. There are sqrt(count) clusters of 64 rows each, or of all rows when there are
/// fewer. `data` is in stored type. Deterministic, whatever `threads` is. 0 for fewer than two
/// rows.
float affinity_threshold(const VectorView& data, Metric metric, double percentile,
                         std::uint64_t seed, unsigned threads);

}  // namespace farvec::ssd_baseline
