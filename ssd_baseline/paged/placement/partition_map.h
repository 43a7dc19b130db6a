// A PartitionMap reads the pages of a paged HNSW that map its partitions to the pages that take
// their new vertices. Source: Shim et al., Turbocharging Vector Databases using Modern SSDs (PVLDB
// 18(11), 2025), section 6.1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "layout/hnsw/partition_page.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"

namespace farvec::paged {

/// Gives a graph whose pages have partitions (HnswPageOrder::partitions) its map: the chosen
/// partitions get insert pages (chosen[p]: partition p, see choose_insert_partitions()), at first
/// the last of their own pages, which is seldom full. Reads all pages once. Nothing else may change
/// the graph meanwhile. Blocks the thread; must not be called from inside a fiber. Throws Error
/// when there is a map already, when the graph has other partitions, and when a page cannot be read
/// or made; then the graph is as it was, except for pages that it does not use.
void create_partition_map(PagedHnsw& hnsw, const std::vector<bool>& chosen);

/// A MapEntry is what the map has of a partition, and where.
struct MapEntry {
  layout::PartitionEntry entry;
  layout::PageNumber map_page = layout::kNoPage;  ///< none: the graph has no map
};

/// Reads the map, and changes it. Fibers of the fetcher's scheduler use it, one call at a time.
class PartitionMap {
 public:
  /// Both must outlive it.
  PartitionMap(PagedHnsw& hnsw, PageFetcher& fetcher)
      : hnsw_(hnsw), fetcher_(fetcher), shape_(hnsw.partition_map()) {}

  const layout::PartitionMapShape& shape() const { return shape_; }
  /// Returns whether the share of partitions with an insert page follows the inserts. Only then
  /// does the map count vertices.
  bool follows() const { return shape_.has_counts() && hnsw_.config().most_insert_pages > 0; }

  /// Finds a partition's entry, from inside a fiber; may suspend. Counts its reads in `reads`.
  /// data_loss when the map does not know the partition, or names an insert page that there is not.
  Result<MapEntry> find(std::uint32_t partition, Ticks deadline, FetchCounts& reads);

  /// These read and write a partition's entry within a PageStore::update(); `map_page` is the place
  /// of the entry's page among the pins.
  Result<layout::PartitionEntry> read(const PageEditor& editor, std::size_t map_page,
                                      std::uint32_t partition) const;
  Status write(PageEditor& editor, std::size_t map_page, std::uint32_t partition,
               const layout::PartitionEntry& entry) const;

  /// Returns an error when an insert page that the map has named is none of vertices.
  static Status check_insert_page(std::span<const std::byte> page);

 private:
  Result<layout::PartitionEntry> entry_on(std::span<const std::byte> page,
                                          std::uint32_t partition) const;

  PagedHnsw& hnsw_;
  PageFetcher& fetcher_;
  const layout::PartitionMapShape shape_;
  layout::PageNumber first_ = layout::kNoPage;  ///< the map's first page, once it was seen
};

}  // namespace farvec::paged
