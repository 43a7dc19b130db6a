#include "collection/search/probe_shares.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace farvec::collection {
namespace {

/// Returns the least for a segment with this share of the vectors, whose clusters are as large as
/// those of one index and so spread wider. With the share's power of 0.75 in place of its root
/// recall is that of one index on deep20k, but on text300k 0.843 and 0.924 where one has 0.875 and
/// 0.935 (segments of a half, a quarter and two eighths, 8 and 16 clusters of 64 vectors).
std::uint32_t least_clusters(std::uint32_t probes, double share) {
  return static_cast<std::uint32_t>(std::ceil(probes * std::sqrt(share)));
}

/// Returns the query as the segment has its vectors.
const void* query_of(const ProbedSegment& segment, const void* query, ProbeShares& shares) {
  if (segment.second == nullptr) return query;
  shares.reduced.resize(segment.second->reduction().bytes());
  segment.second->reduction().reduce(static_cast<const std::byte*>(query), shares.reduced.data());
  return shares.reduced.data();
}

}  // namespace

void share_probes(const void* query, std::uint32_t probes, ProbeShares& shares) {
  std::vector<ProbedSegment>& segments = shares.segments;
  for (ProbedSegment& segment : segments) segment.clusters = probes;
  if (segments.size() <= 1) return;
  std::uint64_t all = 0;
  for (const ProbedSegment& segment : segments) all += segment.live;
  shares.near.clear();
  for (std::uint32_t s = 0; s < segments.size(); ++s) {
    const cluster::CentroidIndex& centroids = *segments[s].centroids;
    centroids.search(query_of(segments[s], query, shares), probes, shares.scratch);
    for (const cluster::NearCluster& near : shares.scratch.found) {
      shares.near.emplace_back(centroids.comparable(near.distance) * segments[s].scale, s);
    }
    segments[s].clusters = 0;
  }
  const std::size_t nearest = std::min<std::size_t>(probes, shares.near.size());
  std::nth_element(shares.near.begin(), shares.near.begin() + static_cast<std::ptrdiff_t>(nearest),
                   shares.near.end());
  for (std::size_t i = 0; i < nearest; ++i) ++segments[shares.near[i].second].clusters;
  for (ProbedSegment& segment : segments) {
    const double share = static_cast<double>(segment.live) / static_cast<double>(all);
    segment.clusters = std::max(segment.clusters, least_clusters(probes, share));
  }
}

}  // namespace farvec::collection
