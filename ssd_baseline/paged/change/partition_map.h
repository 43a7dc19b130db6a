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

/// Says what the map has for a partition.
struct InsertPage {
  layout::PageNumber page = layout::kNoPage;      ///< page that takes new vertices, or none
  layout::PageNumber map_page = layout::kNoPage;  ///< page of the map that says so
};

/// Reads the map, and changes it. Fibers of the fetcher's scheduler use it, one call at a time.
class PartitionMap {
 public:
  /// Both must outlive it.
  PartitionMap(PagedHnsw& hnsw, PageFetcher& fetcher)
      : hnsw_(hnsw), fetcher_(fetcher), shape_{hnsw.shape().page_bytes} {}

  /// Finds a partition's insert page, from inside a fiber; may suspend. A graph without a map has
  /// no insert pages. data_loss when the map does not know the partition.
  Result<InsertPage> find(std::uint32_t partition, Ticks deadline);

  /// Puts `next` in place of `before` on the map's page, which is among the pins of the
  /// PageStore::update() that this is called in. cancelled when the partition has another insert
  /// page meanwhile.
  struct Change {
    std::uint32_t partition = 0;
    layout::PageNumber before = layout::kNoPage;
    layout::PageNumber next = layout::kNoPage;
  };
  Status change(PageEditor& editor, std::size_t map_page, const Change& change) const;

  const FetchCounts& reads() const { return reads_; }

 private:
  PagedHnsw& hnsw_;
  PageFetcher& fetcher_;
  const layout::PartitionMapShape shape_;
  layout::PageNumber first_ = layout::kNoPage;  ///< the map's first page, once it was seen
  FetchCounts reads_;
};

}  // namespace farvec::paged
