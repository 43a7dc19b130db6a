// PartitionPlacement puts new vertices near their neighbours. It is Algorithm 2 of Shim et al.,
// Turbocharging Vector Databases using Modern SSDs (PVLDB 18(11), 2025).
#pragma once

#include <cstdint>
#include <vector>

#include "ssd_baseline/paged/change/partition_map.h"
#include "ssd_baseline/paged/change/partition_rank.h"
#include "ssd_baseline/paged/change/placement.h"
#include "ssd_baseline/paged/graph/hnsw_search_types.h"

namespace farvec::paged {

/// Counts updates that came as far as PlacementPolicy::note().
struct PartitionPlacementCounts {
  std::uint64_t placed = 0;    ///< on an insert page of a partition, also a new one
  std::uint64_t extended = 0;  ///< pages that a partition got because its insert page was full
  std::uint64_t fallback = 0;  ///< no partition of a neighbour has an insert page
};

/// Chooses, among the partitions that have an insert page, the one with most of the vertex's
/// neighbours (rank_partitions()). The vertex goes to its insert page, or when that is full to a
/// new page, which becomes the partition's insert page. The pages of a partition are known by their
/// tags. When no partition of a neighbour has an insert page, or the graph has no map,
/// FallbackPlacement decides.
class PartitionPlacement final : public PlacementPolicy {
 public:
  /// Both must outlive it.
  PartitionPlacement(PagedHnsw& hnsw, PageFetcher& fetcher)
      : hnsw_(hnsw), fetcher_(fetcher), map_(hnsw, fetcher), fallback_(hnsw, fetcher) {}

  Result<Placement> choose(const PlacementRequest& request) override;
  Status note(const Placement& placement, PlacementEdit& edit) override;

  const PartitionPlacementCounts& counts() const { return counts_; }
  /// Returns the reads of the map's pages, and of insert pages to see whether they have room.
  FetchCounts reads() const;

 private:
  Result<bool> has_room(PageNumber page, const PlacementRequest& request);

  PagedHnsw& hnsw_;
  PageFetcher& fetcher_;
  PartitionMap map_;
  FallbackPlacement fallback_;
  std::vector<PartitionOverlap> ranked_;
  bool chosen_ = false;  ///< the last choose() found a partition; else the fallback has chosen
  PartitionMap::Change change_;
  PartitionPlacementCounts counts_;
  FetchCounts reads_;
};

}  // namespace farvec::paged
