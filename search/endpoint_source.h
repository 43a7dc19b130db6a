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
/// suspend (another fiber of the core may evict them then), posts the others with one doorbell,
/// suspends once, and visits them in the lane's own buffer.
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
    Hop& hop = hop_;
    split(frontier, hop);
    for (std::uint32_t i = 0; i < hop.hits; ++i) {
      Status status = visit_one(hop.hit_ids[i], hop.found[i], hop.cached[i], visit);
      if (!status.ok()) return status;
    }
    if (hop.misses == 0) return {};
    const std::span<const LaneRead> reads(hop.reads, hop.misses);
    if (Status status = dispatcher_.post(lane_, reads, deadline_); !status.ok()) return status;
    if (Status status = dispatcher_.wait(lane_, deadline_, partial_); !status.ok()) return status;
    for (std::uint32_t i = 0; i < hop.misses; ++i) {
      const auto bytes = dispatcher_.bytes(lane_, i);
      if (bytes.empty()) {
        ++counts_->lost;
        continue;
      }
      Status status = visit_one(hop.miss_ids[i], hop.missing[i], bytes, visit);
      if (!status.ok()) return status;
      if (cache_.enabled()) cache_.insert(hop.miss_ids[i], bytes);
    }
    return {};
  }

 private:
  static std::size_t slot_bytes(const layout::GraphLocator& locator) {
    return round_up(locator.geometry().max_record_bytes(), kCacheLineBytes);
  }

  /// Kept between hops: clearing it anew each time would cost more than the copies.
  struct Hop {
    std::uint32_t hits = 0;
    std::uint32_t misses = 0;
    NodeId hit_ids[graph::kMaxWidth];
    NodeId miss_ids[graph::kMaxWidth];
    layout::Extent found[graph::kMaxWidth];
    layout::Extent missing[graph::kMaxWidth];
    LaneRead reads[graph::kMaxWidth];
    std::span<const std::byte> cached[graph::kMaxWidth];
  };

  void split(std::span<const NodeId> frontier, Hop& hop) {
    hop.hits = 0;
    hop.misses = 0;
    for (NodeId id : frontier) {
      const layout::Extent extent = locator_.locate(id);
      const auto cached = cache_.enabled() ? cache_.find(id) : std::span<const std::byte>();
      if (!cached.empty()) {
        hop.hit_ids[hop.hits] = id;
        hop.found[hop.hits] = extent;
        hop.cached[hop.hits++] = cached;
      } else {
        hop.miss_ids[hop.misses] = id;
        hop.reads[hop.misses] = {extent.offset, extent.bytes, hop.misses * slot_bytes_};
        hop.missing[hop.misses++] = extent;
        counts_->bytes += extent.bytes;
      }
    }
    counts_->cache_hits += hop.hits;
    counts_->reads += hop.misses;
  }

  template <typename Visit>
  Status visit_one(NodeId id, const layout::Extent& extent, std::span<const std::byte> bytes,
                   Visit& visit) {
    const Result<NodeRecord> record = locator_.parse(id, extent, bytes, scratch_);
    if (!record.ok()) return record.status();
    visit(id, record.value());
    return {};
  }

  const layout::GraphLocator& locator_;
  ReadDispatcher& dispatcher_;
  const std::uint32_t lane_;
  RecordCache& cache_;
  const std::size_t slot_bytes_;
  Ticks deadline_ = 0;
  bool partial_ = false;
  QueryCounts* counts_ = nullptr;
  Hop hop_;
  std::vector<NodeId> scratch_;  ///< neighbours of the record that is visited
};

}  // namespace farvec::search
