// Records by one-sided reads: emulated devices, and every transport that is not a load.
#pragma once

#include <span>
#include <vector>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "graph/beam_search.h"
#include "layout/graph/graph_layout.h"
#include "search/read_dispatcher.h"
#include "search/record_cache.h"
#include "search/search_core.h"

namespace farvec::search {

/// One fiber's NodeSource. expand() visits the records that are in the cache before anything can
/// suspend (another fiber of the core may evict them then), has the others posted with one
/// doorbell, suspends once, and visits them in the lane's own buffer.
class EndpointNodeSource {
 public:
  EndpointNodeSource(const layout::GraphLocator& locator, ReadDispatcher& dispatcher,
                     std::uint32_t lane, RecordCache& cache)
      : locator_(locator),
        dispatcher_(dispatcher),
        lane_(lane),
        cache_(cache),
        slot_bytes_(slot_bytes(locator)),
        scratch_(locator.geometry().scratch_ids()) {}

  /// What the dispatcher must have for a graph's searches.
  static DispatcherOptions dispatcher_options(const layout::GraphLocator& locator,
                                              std::uint32_t lanes) {
    return {lanes, graph::kMaxWidth * slot_bytes(locator), graph::kMaxWidth};
  }

  /// Before each search. The task must live until the next call.
  void begin(SearchTask& task) {
    deadline_ = task.deadline;
    partial_ = task.partial;
    counts_ = &task.counts;
  }

  /// After a search that had to do without some records.
  double coverage() const { return dispatcher_.endpoint().coverage(); }

  void expect(NodeId id) const { locator_.prefetch(id); }

  template <typename Visit>
  Status expand(std::span<const NodeId> frontier, Visit&& visit) {
    split(frontier);
    // One place that visits, first what the cache has and then what was read: the compiler takes
    // all that a visit does into this loop, as it does where records are loads.
    for (std::uint32_t i = 0; i < hits_ + misses_; ++i) {
      const bool hit = i < hits_;
      if (i == hits_) {
        Status status = read();
        if (!status.ok()) return status;
      }
      const Wanted& wanted = hit ? cached_[i] : missing_[i - hits_];
      const auto bytes = hit ? found_[i] : dispatcher_.bytes(lane_, i - hits_);
      if (bytes.empty()) {
        ++counts_->lost;
        continue;
      }
      const Result<NodeRecord> record = locator_.parse(wanted.id, wanted.extent, bytes, scratch_);
      if (!record.ok()) return record.status();
      visit(wanted.id, record.value());
      if (!hit && cache_.enabled()) cache_.insert(wanted.id, bytes);
    }
    serve_others();
    return {};
  }

 private:
  static std::size_t slot_bytes(const layout::GraphLocator& locator) {
    return round_up(locator.geometry().max_record_bytes(), kCacheLineBytes);
  }

  struct Wanted {
    NodeId id = 0;
    layout::Extent extent;
  };

  /// Of a frontier, what the cache has and what is to be read.
  void split(std::span<const NodeId> frontier) {
    hits_ = 0;
    misses_ = 0;
    for (const NodeId id : frontier) {
      const layout::Extent extent = locator_.locate(id);
      const auto found = cache_.enabled() ? cache_.find(id) : std::span<const std::byte>();
      if (!found.empty()) {
        cached_[hits_] = {id, extent};
        found_[hits_++] = found;
      } else {
        reads_[misses_] = {extent.offset, extent.bytes, misses_ * slot_bytes_};
        missing_[misses_++] = {id, extent};
        counts_->bytes += extent.bytes;
      }
    }
    counts_->cache_hits += hits_;
    counts_->reads += misses_;
  }

  /// What was visited has asked for its neighbours' codes. While they come the core does what
  /// searches need that made way for this one: their reads go out, behind those codes, and one
  /// that has all it waits for is ready when this one makes way.
  void serve_others() {
    dispatcher_.post_held();
    if (!dispatcher_.scheduler().any_ready()) dispatcher_.poll();
  }

  Status read() {
    Status status = dispatcher_.hold(lane_, {reads_, misses_}, deadline_);
    return status.ok() ? dispatcher_.wait(lane_, deadline_, partial_) : status;
  }

  const layout::GraphLocator& locator_;
  ReadDispatcher& dispatcher_;
  const std::uint32_t lane_;
  RecordCache& cache_;
  const std::size_t slot_bytes_;
  Ticks deadline_ = 0;
  bool partial_ = false;
  QueryCounts* counts_ = nullptr;
  // Of a hop. Kept between hops: clearing it anew each time would cost more than the copies.
  std::uint32_t hits_ = 0;
  std::uint32_t misses_ = 0;
  Wanted cached_[graph::kMaxWidth];
  Wanted missing_[graph::kMaxWidth];
  std::span<const std::byte> found_[graph::kMaxWidth];  ///< of the cached
  LaneRead reads_[graph::kMaxWidth];                    ///< of the missing
  std::vector<NodeId> scratch_;  ///< neighbours of the record that is visited
};

}  // namespace farvec::search
