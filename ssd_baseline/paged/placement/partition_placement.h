// PartitionPlacement puts new vertices near their neighbours. It is Algorithm 2 of Shim et al.,
// Turbocharging Vector Databases using Modern SSDs (PVLDB 18(11), 2025).
#pragma once

#include <cstdint>
#include <vector>

#include "ssd_baseline/paged/graph/hnsw_search_types.h"
#include "ssd_baseline/paged/placement/partition_map.h"
#include "ssd_baseline/paged/placement/partition_rank.h"
#include "ssd_baseline/paged/placement/partition_share.h"
#include "ssd_baseline/paged/placement/placement.h"

namespace farvec::paged {

/// Counts updates that came as far as PlacementPolicy::note().
struct PartitionPlacementCounts {
  std::uint64_t placed = 0;    ///< on an insert page of a partition, also a new one
  std::uint64_t extended = 0;  ///< pages that a partition got because its insert page was full
  std::uint64_t fallback = 0;  ///< no partition of a neighbour has an insert page
  std::uint64_t wished = 0;    ///< the partition with most neighbours had no insert page
  std::uint64_t given = 0;     ///< partitions that got an insert page because of such wishes
};

/// Chooses, among the partitions that have an insert page, the one with most of the vertex's
/// neighbours (rank_partitions()). The vertex goes to its insert page, or when that is full to a
/// further page, which becomes the partition's insert page. The pages of a partition are known by
/// their tags. When no partition of a neighbour has an insert page, or the graph has no map,
/// FallbackPlacement decides.
///
/// The share of partitions with an insert page follows the inserts. When the partition with most of
/// the neighbours, of all there are, has no insert page, the map counts a wish. A partition with
/// enough wishes gets an insert page, as long as partition_share.h allows one more. An
/// InsertPageSweep takes pages back. With HnswConfig::most_insert_pages of 0, and on a graph of
/// format version 1, the share stays as it is and nothing is counted.
///
/// A further page is the first of the list of those with free space, if that is empty, else a new
/// one.
class PartitionPlacement final : public PlacementPolicy {
 public:
  /// Both must outlive it.
  PartitionPlacement(PagedHnsw& hnsw, PageFetcher& fetcher)
      : hnsw_(hnsw), fetcher_(fetcher), map_(hnsw, fetcher), fallback_(hnsw, fetcher) {}

  Result<Placement> choose(const PlacementRequest& request) override;
  Status note(const Placement& placement, PlacementEdit& edit) override;

  /// Returns the counts since the caller cleared them.
  PartitionPlacementCounts& counts() { return counts_; }
  /// Returns the reads of the map's pages, and of insert pages to see whether they have room.
  const FetchCounts& reads() const { return reads_; }

 private:
  enum class Way : std::uint8_t {
    fallback,     ///< where FallbackPlacement says
    insert_page,  ///< on the partition's insert page
    next_page,    ///< on a further page, because that is full
    first_page,   ///< on the partition's first insert page
  };
  /// A Wish is a partition without an insert page that the vertex belongs to.
  struct Wish {
    std::uint32_t partition = 0;
    PageNumber map_page = layout::kNoPage;  ///< none: there is no wish
  };

  Result<Placement> fall_back(const PlacementRequest& request);
  Result<Placement> place(std::uint32_t partition, const MapEntry& found,
                          const PlacementRequest& request);
  Result<Placement> further_page(Way way, std::uint32_t partition, const MapEntry& found,
                                 Ticks deadline);
  Result<bool> gets_page(const layout::PartitionEntry& entry, Ticks deadline);
  Result<PageNumber> empty_page(Ticks deadline);
  Result<bool> has_room(PageNumber page, const PlacementRequest& request);
  Status note_wish(PlacementEdit& edit) const;
  Status note_place(PlacementEdit& edit) const;
  Status note_further_page(PlacementEdit& edit, layout::PartitionEntry& entry) const;

  PagedHnsw& hnsw_;
  PageFetcher& fetcher_;
  PartitionMap map_;
  FallbackPlacement fallback_;
  std::vector<PartitionOverlap> ranked_;
  PartitionPlacementCounts counts_;
  FetchCounts reads_;

  // What the last choose() has found.
  Way way_ = Way::fallback;
  std::uint32_t partition_ = 0;
  PageNumber before_ = layout::kNoPage;  ///< the partition's insert page
  Wish wish_;
};

}  // namespace farvec::paged
