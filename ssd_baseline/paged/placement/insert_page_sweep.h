// An InsertPageSweep takes insert pages back from partitions of a paged HNSW that receive nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"
#include "ssd_baseline/paged/graph/pinned_pages.h"
#include "ssd_baseline/paged/placement/partition_map.h"

namespace farvec::paged {

struct InsertPageSweepCounts {
  std::uint64_t taken = 0;  ///< partitions that have no insert page any more
  std::uint64_t freed = 0;  ///< pages of these that went to the list of those with free space
};

/// A sweep adds up what the map counts. When tells_who_receives() says so, it takes the insert page
/// from each partition that got none of the counted vertices and wished for none, and begins all
/// counts anew. Otherwise it changes nothing, and the counts go on until a later sweep.
///
/// A page that is taken back takes vertices of any kind from then on: it goes to the list of pages
/// with free space, without its partition when it is empty. Each page is taken in an update of its
/// own, so a kill between two of them leaves a map that is right; the next sweep takes the rest.
/// Inserts go on meanwhile.
class InsertPageSweep {
 public:
  /// All must outlive it. Fibers of the fetcher's scheduler use it, one call at a time. Its reads
  /// are counted in `reads`.
  InsertPageSweep(PagedHnsw& hnsw, PageFetcher& fetcher, FetchCounts& reads);

  /// Looks at one page of the map, or takes one page back; is called from inside a fiber. Returns
  /// false when all is done; then the next step begins another sweep. After an error another step
  /// may go on.
  Result<bool> step(Ticks deadline);

  /// Returns the position in the log after the last update.
  wal::Position position() const { return position_; }
  const InsertPageSweepCounts& done() const { return done_; }

 private:
  Result<bool> begin(Ticks deadline);
  Status add_up(Ticks deadline);
  Status list_unused(Ticks deadline);
  Status take_back(std::uint32_t partition, Ticks deadline);
  Status edit_page(PageEditor& editor, PageNumber page, layout::HnswState& state);
  Status begin_counts(Ticks deadline);
  template <typename Look>
  Status look_at_map(Ticks deadline, Look&& look);
  Status update(const std::function<Status(PageEditor&)>& edit);

  enum class Phase : std::uint8_t { begin, add_up, list, take, count_anew };

  PagedHnsw& hnsw_;
  PageFetcher& fetcher_;
  FetchCounts& reads_;
  PartitionMap map_;
  PinnedPages pins_;
  wal::Position position_ = 0;
  InsertPageSweepCounts done_;

  Phase phase_ = Phase::begin;
  layout::HnswState state_;            ///< when the sweep began
  std::uint32_t page_ = 0;             ///< index of a page of the map
  std::uint32_t pages_ = 0;            ///< pages of the map
  std::uint64_t counted_ = 0;          ///< vertices
  std::vector<std::uint32_t> unused_;  ///< partitions of the page whose insert pages are taken
  std::uint64_t freed_ = 0;
};

}  // namespace farvec::paged
