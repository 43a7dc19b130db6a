// A SlottedSource brings a graph search the records of slotted pages, out of a pool or from the
// disk.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "layout/pages/slotted_record.h"
#include "ssd_baseline/slotted/pool/record_reader.h"

namespace farvec::slotted {

/// One fiber's graph::CachedSource and graph::PageSource; a record's vector is its payload. The
/// reader must outlive it.
template <typename Pool>
class SlottedSource {
 public:
  struct Options {
    std::uint32_t lane = 0;
    bool page_search = true;  ///< see SlottedSearchOptions
  };
  SlottedSource(const layout::SlottedGeometry& geometry, RecordReader<Pool>& reader,
                const Options& options)
      : geometry_(geometry),
        reader_(reader),
        lane_(options.lane),
        page_search_(options.page_search),
        neighbors_(geometry.scratch_ids()) {}

  /// Must be called before each search.
  void begin(Ticks deadline) {
    deadline_ = deadline;
    before_ = reader_.counts(lane_);
  }
  /// Returns what the pool has done for the search since begin().
  PoolCounts counts() const { return reader_.counts(lane_) - before_; }

  void expect(NodeId) const {}
  /// Lets the core's other searches go on.
  void pause() { reader_.pause(); }
  bool resident(NodeId id) const { return reader_.resident(id); }
  void prefetch(NodeId id) { reader_.prefetch(lane_, id); }

  template <typename Visit>
  Status expand(std::span<const NodeId> frontier, Visit&& visit) {
    return expand(frontier, visit, [](NodeId) { return false; });
  }
  template <typename Visit, typename Wanted>
  Status expand(std::span<const NodeId> frontier, Visit&& visit, Wanted&& wanted) {
    const auto decode = [&](NodeId id, std::span<const std::byte> bytes) -> Status {
      const auto record = layout::decode_slotted_record(geometry_, bytes, neighbors_);
      if (!record.ok()) return record.status();
      visit(id, record.value());
      return {};
    };
    return reader_.read(lane_, frontier, deadline_, decode,
                        [&](NodeId id) { return page_search_ && wanted(id); });
  }

 private:
  const layout::SlottedGeometry& geometry_;
  RecordReader<Pool>& reader_;
  const std::uint32_t lane_;
  const bool page_search_;
  std::vector<NodeId> neighbors_;
  Ticks deadline_ = 0;
  PoolCounts before_;
};

}  // namespace farvec::slotted
