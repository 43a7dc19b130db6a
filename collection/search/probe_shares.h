// How many clusters of each segment one search probes. For collection_part.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/centroid_index.h"

namespace farvec::collection {

struct ProbedSegment {
  const cluster::CentroidIndex* centroids = nullptr;
  std::uint64_t live = 0;      ///< vectors
  std::uint32_t clusters = 0;  ///< to probe; at least 1
};

/// One slot's working memory and result.
struct ProbeShares {
  std::vector<ProbedSegment> segments;
  cluster::CentroidScratch scratch;
  std::vector<std::pair<float, std::uint32_t>> near;  ///< of all segments: how far, which
};

/// Fills in the clusters of each segment, at most `probes`, which is what one index of all their
/// vectors would be searched with: as many as it has of the `probes` clusters of all segments that
/// are nearest to the query, but no fewer than its share of the vectors lets expect. A single one
/// gets all. `query` is a row of the stored type. Never suspends.
void share_probes(const void* query, std::uint32_t probes, ProbeShares& shares);

}  // namespace farvec::collection
