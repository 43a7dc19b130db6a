// share_probes() decides how many clusters of each segment one search probes. It is for
// collection_part.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/centroid_index.h"
#include "search/index/second_copy.h"

namespace farvec::collection {

struct ProbedSegment {
  const cluster::CentroidIndex* centroids = nullptr;
  std::uint64_t live = 0;  ///< number of live vectors
  /// Says how the segment has reduced its vectors; null: it has them as they came.
  const search::SecondCopy* second = nullptr;
  /// Brings comparable distances of reduced vectors to the scale of other segments.
  float scale = 1;
  std::uint32_t clusters = 0;  ///< clusters to probe; at least 1
};

/// ProbeShares are one slot's working memory and result.
struct ProbeShares {
  std::vector<ProbedSegment> segments;
  cluster::CentroidScratch scratch;
  std::vector<std::byte> reduced;  ///< the query as one of the segments has its vectors
  std::vector<std::pair<float, std::uint32_t>>
      near;  ///< for the clusters of all segments: distance and segment
};

/// Fills in the clusters of each segment, at most `probes`, which is the number for one index of
/// all their vectors. A segment gets as many as it has of the `probes` clusters of all segments
/// that are nearest to the query, but no fewer than its share of the vectors lets expect. A single
/// segment gets all. `query` is a row as the collection keeps it. It never suspends.
void share_probes(const void* query, std::uint32_t probes, ProbeShares& shares);

}  // namespace farvec::collection
