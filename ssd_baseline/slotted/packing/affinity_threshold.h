// affinity_threshold() finds how near two vectors must be to be affine.
#pragma once

#include <cstdint>

#include "base/progress.h"
#include "base/types.h"

namespace farvec::slotted {

/// The percentile of the distances of a cluster's vectors to the centroid; the number is VeloANN's.
inline constexpr double kAffinityPercentile = 5;

struct AffinityThresholdOptions {
  double percentile = kAffinityPercentile;  ///< 0 to 100
  std::uint64_t seed = 1;
  unsigned threads = 0;  ///< 0: all processors; the threshold does not depend on it
  bool quiet = true;     ///< no progress
  Interruption interrupted = {};
};

/// Returns the square of VeloANN's tau (section 3.4): the mean over the clusters of a sample of a
/// percentile of the distances of their vectors to the centroid, in the space of graph::BuildSpace.
/// There are sqrt(count) clusters of 64 rows each, or of all rows when there are fewer. `data` is
/// in stored type. Deterministic. Returns 0 for fewer than two rows. Throws WorkInterrupted.
float affinity_threshold(const VectorView& data, Metric metric,
                         const AffinityThresholdOptions& options);

}  // namespace farvec::slotted
