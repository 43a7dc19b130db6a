// ChangeHands are what one fiber changes a graph on pages with.
#pragma once

#include <cstddef>
#include <optional>

#include "ssd_baseline/paged/change/hnsw_writer.h"
#include "ssd_baseline/paged/change/vertex_getter.h"
#include "ssd_baseline/paged/graph/hnsw_search_types.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"
#include "ssd_baseline/paged/placement/partition_placement.h"

namespace farvec::paged {

/// ChangeCounts say what changes and reads by id have cost.
struct ChangeCounts {
  HnswCounts counts;
  HnswWriteCounts written;             ///< counts of inserts and deletes
  PartitionPlacementCounts placement;  ///< counts of inserts

  ChangeCounts& operator+=(const ChangeCounts& other);
};

/// Has a writer and a getter, each made when it is first needed. One fiber at a time uses it.
class ChangeHands {
 public:
  /// Both must outlive it.
  ChangeHands(PagedHnsw& hnsw, PageFetcher& fetcher, const HnswReadOptions& reads)
      : hnsw_(hnsw), fetcher_(fetcher), reads_(reads), placement_(hnsw, fetcher) {}

  PagedHnsw& hnsw() { return hnsw_; }
  PageFetcher& fetcher() { return fetcher_; }
  const HnswReadOptions& reads() const { return reads_; }
  HnswWriter& writer();
  VertexGetter& getter();

  /// Returns the counts since the last call.
  ChangeCounts take_counts();
  std::size_t dram_bytes() const;

 private:
  PagedHnsw& hnsw_;
  PageFetcher& fetcher_;
  const HnswReadOptions reads_;
  PartitionPlacement placement_;
  std::optional<HnswWriter> writer_;
  std::optional<VertexGetter> getter_;
};

}  // namespace farvec::paged
