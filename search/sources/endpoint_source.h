// Reads records by one-sided reads: from emulated devices, and over every transport that does not
// work by loads.
#pragma once

#include <cstdint>
#include <optional>
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
#include "search/sources/record_runs.h"

namespace farvec::search {

/// An EndpointNodeSource is one fiber's NodeSource. expand() visits the records that are in the
/// cache before anything can suspend (another fiber of the core may evict them then), has the
/// others posted with one doorbell, suspends once, and visits them in the lane's own buffer.
class EndpointNodeSource {
 public:
  /// For `gap_bytes` see SearchCoreOptions::merge_gap_bytes.
  EndpointNodeSource(const layout::GraphLocator& locator, ReadDispatcher& dispatcher,
                     std::uint32_t lane, RecordCache& cache,
                     std::optional<std::uint32_t> gap_bytes = std::nullopt)
      : locator_(locator),
        dispatcher_(dispatcher),
        lane_(dispatcher.lane(lane)),
        cache_(cache),
        has_cache_(cache.enabled()),
        scratch_(locator.geometry().scratch_ids()) {
    if (!gap_bytes) return;
    run_limits_ = {*gap_bytes, dispatcher.endpoint().limits().max_read_bytes,
                   dispatcher.options().lane_bytes};
  }

  /// Returns the options that the dispatcher needs for a graph's searches.
  static DispatcherOptions dispatcher_options(const layout::GraphLocator& locator,
                                              std::uint32_t lanes) {
    const std::uint32_t slot = slot_bytes(locator);
    return {lanes, std::size_t{graph::kMaxWidth} * slot + kBetweenBytes, graph::kMaxWidth, slot};
  }

  /// Is called before each search. `counts` must live until the next call.
  void begin(const SearchRequest& request, QueryCounts& counts) {
    deadline_ = request.deadline;
    partial_ = request.partial;
    caller_ = request.caller;
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

  /// Does what expand() does, for vertices in ascending order. Records near each other share a
  /// read, where the tier merges reads.
  template <typename Visit>
  Status expand_together(std::span<const NodeId> ids, Visit&& visit) {
    const auto none = [](NodeId) { return false; };
    return run_limits_ ? bring<true>(ids, visit, none) : bring<false>(ids, visit, none);
  }

  /// See graph::ListSource. The cache keeps whole records alone.
  template <typename Visit, typename Passed>
  [[gnu::always_inline]] Status expand_passing(std::span<const NodeId> frontier, Visit&& visit,
                                               Passed&& passed) {
    return bring<false>(frontier, visit, passed);
  }

 private:
  /// Room of a lane for what is between records that share a read.
  static constexpr std::size_t kBetweenBytes = std::size_t{16} << 10;

  template <bool together, typename Visit, typename Passed>
  [[gnu::always_inline]] Status bring(std::span<const NodeId> frontier, Visit&& visit,
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
      const Status asked = together ? ask_together(frontier) : ask(frontier, passed);
      if (!asked.ok()) return asked;
      if (Status status = lane_.wait(deadline_, partial_); !status.ok()) return status;
      together ? take_parts(frontier.size()) : take_arrived(frontier.size());
      here = frontier;
    }
    serve_others();
    return {};
  }

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

  Status begin_round() {
    if (caller_ != nullptr) {
      if (Status status = check_time(deadline_, caller_); !status.ok()) return status;
    }
    return lane_.begin(deadline_);
  }

  template <typename Passed>
  Status ask(std::span<const NodeId> ids, const Passed& passed) {
    if (Status status = begin_round(); !status.ok()) return status;
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

  Status ask_together(std::span<const NodeId> ids) {
    if (Status status = begin_round(); !status.ok()) return status;
    layout::Extent extents[graph::kMaxWidth];
    for (std::size_t i = 0; i < ids.size(); ++i) {
      extents[i] = locator_.locate(ids[i]);
      found_[i] = {nullptr, extents[i].bytes, extents[i].degree};
    }
    runs_.plan({extents, ids.size()}, *run_limits_);
    {
      ReadLane::Appender round(lane_);
      for (const RecordRuns::Run& run : runs_.runs()) {
        round.add(run.offset, run.bytes, run.at);
        counts_->bytes += run.bytes;
      }
    }
    counts_->reads += static_cast<std::uint32_t>(runs_.runs().size());
    return lane_.hold(deadline_);
  }

  /// Finds the first `count` records in the reads that were planned.
  void take_parts(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const RecordRuns::Part& part = runs_.part(i);
      const std::span<const std::byte> bytes = lane_.bytes(part.run);
      found_[i].data = bytes.empty() ? nullptr : bytes.data() + part.skip;
    }
    for (std::uint32_t run = 0; run < runs_.runs().size(); ++run) {
      counts_->lost += lane_.bytes(run).empty() ? 1 : 0;
    }
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
  const SearchCaller* caller_ = nullptr;
  QueryCounts* counts_ = nullptr;
  std::vector<NodeId> scratch_;  ///< neighbours of the record that is visited
  // Belongs to a hop. Kept between hops, because clearing it each time would cost more than the
  // copies.
  Found found_[graph::kMaxWidth];
  NodeId cached_[graph::kMaxWidth] = {};
  NodeId missing_[graph::kMaxWidth] = {};  ///< vertices that the cache does not have
  std::optional<RunLimits> run_limits_;    ///< none: each record has a read of its own
  RecordRuns runs_;                        ///< those of expand_together()
};

}  // namespace farvec::search
