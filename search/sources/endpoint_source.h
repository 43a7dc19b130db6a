// Reads records by one-sided reads: from emulated devices, and over every transport that does not
// work by loads.
#pragma once

#include <span>
#include <vector>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "graph/beam_search.h"
#include "layout/graph/graph_layout.h"
#include "search/core/search_core.h"
#include "search/lanes/read_dispatcher.h"
#include "search/sources/record_cache.h"

namespace farvec::search {

/// An EndpointNodeSource is one fiber's NodeSource. expand() visits the records that are in the
/// cache before anything can suspend (another fiber of the core may evict them then), has the
/// others posted with one doorbell, suspends once, and visits them in the lane's own buffer.
class EndpointNodeSource {
 public:
  EndpointNodeSource(const layout::GraphLocator& locator, ReadDispatcher& dispatcher,
                     std::uint32_t lane, RecordCache& cache)
      : locator_(locator),
        dispatcher_(dispatcher),
        lane_(dispatcher.lane(lane)),
        cache_(cache),
        has_cache_(cache.enabled()),
        scratch_(locator.geometry().scratch_ids()) {}

  /// Returns the options that the dispatcher needs for a graph's searches.
  static DispatcherOptions dispatcher_options(const layout::GraphLocator& locator,
                                              std::uint32_t lanes) {
    const std::uint32_t slot = slot_bytes(locator);
    return {lanes, std::size_t{graph::kMaxWidth} * slot, graph::kMaxWidth, slot};
  }

  /// Is called before each search. `counts` must live until the next call.
  void begin(const SearchRequest& request, QueryCounts& counts) {
    deadline_ = request.deadline;
    partial_ = request.partial;
    counts_ = &counts;
  }

  /// Returns the coverage after a search that had to do without some records.
  double coverage() const { return dispatcher_.endpoint().coverage(); }

  void expect(NodeId id) const { locator_.prefetch(id); }
  /// Lets the core's other searches go on.
  void pause() { dispatcher_.scheduler().yield(); }

  template <typename Visit>
  Status expand(std::span<const NodeId> frontier, Visit&& visit) {
    return expand_passing(frontier, visit, [](NodeId) { return false; });
  }

  /// See graph::ListSource. The cache keeps whole records alone.
  template <typename Visit, typename Passed>
  [[gnu::always_inline]] Status expand_passing(std::span<const NodeId> frontier, Visit&& visit,
                                               Passed&& passed) {
    std::span<const NodeId> here;
    if (has_cache_) here = take_hits(frontier);
    // Everything is visited in this one place, first what the cache has and then what was read: so
    // the compiler inlines all that a visit does into this loop, as it does where records are
    // loads.
    for (bool read = frontier.empty();; read = true) {
      for (std::size_t i = 0; i < here.size(); ++i) {
        const Found& found = found_[i];
        if (found.data == nullptr) continue;
        const layout::Extent extent{0, found.bytes, found.degree};
        const std::span<const std::byte> bytes(found.data, found.bytes);
        const bool list_alone = read && passed(here[i]);
        const Result<NodeRecord> record =
            list_alone ? locator_.parse_list(here[i], extent, bytes, scratch_)
                       : locator_.parse(here[i], extent, bytes, scratch_);
        if (!record.ok()) return record.status();
        visit(here[i], record.value());
        if (has_cache_ && read && !list_alone) cache_.insert(here[i], bytes);
      }
      if (read) break;
      if (Status status = ask(frontier, passed); !status.ok()) return status;
      if (Status status = lane_.wait(deadline_, partial_); !status.ok()) return status;
      take_arrived(frontier.size());
      here = frontier;
    }
    serve_others();
    return {};
  }

 private:
  static std::uint32_t slot_bytes(const layout::GraphLocator& locator) {
    return round_up(locator.geometry().max_record_bytes(),
                    static_cast<std::uint32_t>(kCacheLineBytes));
  }

  /// A Found is a record that has been fetched.
  struct Found {
    const std::byte* data = nullptr;  ///< null: lost
    std::uint32_t bytes = 0;
    std::uint32_t degree = 0;
  };

  /// Finds the records that the cache has, and leaves in `frontier` those that it does not have.
  std::span<const NodeId> take_hits(std::span<const NodeId>& frontier) {
    std::size_t hits = 0;
    std::size_t misses = 0;
    for (const NodeId id : frontier) {
      const std::span<const std::byte> bytes = cache_.find(id);
      if (bytes.empty()) {
        missing_[misses++] = id;
        continue;
      }
      found_[hits] = {bytes.data(), static_cast<std::uint32_t>(bytes.size()),
                      locator_.locate(id).degree};
      cached_[hits++] = id;
    }
    frontier = {missing_, misses};
    counts_->cache_hits += static_cast<std::uint32_t>(hits);
    return {cached_, hits};
  }

  template <typename Passed>
  Status ask(std::span<const NodeId> ids, const Passed& passed) {
    if (Status status = lane_.begin(deadline_); !status.ok()) return status;
    std::uint64_t bytes = 0;
    {
      ReadLane::Appender round(lane_);
      for (std::size_t i = 0; i < ids.size(); ++i) {
        const layout::Extent extent =
            passed(ids[i]) ? locator_.locate_list(ids[i]) : locator_.locate(ids[i]);
        round.add(extent.offset, extent.bytes);
        found_[i].degree = extent.degree;
        bytes += extent.bytes;
      }
    }
    counts_->reads += static_cast<std::uint32_t>(ids.size());
    counts_->bytes += bytes;
    return lane_.hold(deadline_);
  }

  /// Finds the first `count` records that were asked for.
  void take_arrived(std::size_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::span<const std::byte> bytes = lane_.bytes(i);
      found_[i].data = bytes.data();
      found_[i].bytes = static_cast<std::uint32_t>(bytes.size());
      counts_->lost += bytes.empty() ? 1 : 0;
    }
  }

  /// The visited records' neighbours had their codes prefetched. While the codes come, the core
  /// works for other searches, which have made way for this one: their reads are posted, after the
  /// requests for those codes, and a search whose reads are all done becomes ready to run next.
  void serve_others() {
    dispatcher_.post_held();
    if (!dispatcher_.scheduler().any_ready()) dispatcher_.poll();
  }

  const layout::GraphLocator& locator_;
  ReadDispatcher& dispatcher_;
  ReadLane& lane_;
  RecordCache& cache_;
  const bool has_cache_;
  bool partial_ = false;
  Ticks deadline_ = 0;
  QueryCounts* counts_ = nullptr;
  std::vector<NodeId> scratch_;  ///< neighbours of the record that is visited
  // Belongs to a hop. Kept between hops, because clearing it each time would cost more than the
  // copies.
  Found found_[graph::kMaxWidth];
  NodeId cached_[graph::kMaxWidth] = {};
  NodeId missing_[graph::kMaxWidth] = {};  ///< vertices that the cache does not have
};

}  // namespace farvec::search
