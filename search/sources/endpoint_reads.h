// EndpointReads are one fiber's one-sided reads of a region of clusters: what its sources share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/memory.h"
#include "base/status.h"
#include "search/core/search_core.h"
#include "search/lanes/read_dispatcher.h"
#include "search/lanes/read_limits.h"
#include "search/sources/posting_plan.h"
#include "search/sources/posting_records.h"

namespace farvec::search {

/// Makes one round of reads after another: open(), add(), post(), wait(); or reads what a plan
/// wants.
class EndpointReads {
 public:
  /// The dispatcher has dispatcher_options().
  EndpointReads(const ClusterIndex& index, ReadDispatcher& dispatcher, std::uint32_t lane)
      : index_(index),
        locator_(index.locator()),
        dispatcher_(dispatcher),
        lane_(dispatcher.lane(lane)) {}

  /// Returns the options that the dispatcher needs for searches of such an index. Throws Error when
  /// a list has more addresses than there can be reads.
  static DispatcherOptions dispatcher_options(const layout::ClusterLocator& locator,
                                              std::uint32_t lanes) {
    const std::uint64_t reads = std::uint64_t{longest_list(locator)} + kReadsBesides;
    if (reads > ReadDispatcher::kMostReads) {
      throw Error(
          "a cluster names {} vectors elsewhere, and at most {} are read at once: build "
          "more clusters",
          reads - kReadsBesides, ReadDispatcher::kMostReads - kReadsBesides);
    }
    return {lanes, lane_bytes(locator), std::max(kMaxReads, static_cast<std::uint32_t>(reads))};
  }

  /// Reads besides strays: a cluster's list and group.
  static constexpr std::uint32_t kReadsBesides = 2;

  /// Is called before each search. `counts` must live until the next call.
  void begin(const SearchRequest& request, QueryCounts& counts) {
    deadline_ = request.deadline;
    partial_ = request.partial;
    caller_ = request.caller;
    counts_ = &counts;
  }
  QueryCounts& counts() { return *counts_; }
  /// Returns the coverage after a search that had to do without some reads.
  double coverage() const { return dispatcher_.endpoint().coverage(); }
  const DispatcherOptions& limits() const { return dispatcher_.options(); }
  std::size_t dram_bytes() const { return kept_.capacity() * sizeof(std::uint32_t); }

  /// Fetches the vectors at `addresses`, in rounds, and hands them out, like CodedSource::fetch().
  template <typename Visit>
  Status fetch(PostingPlan& plan, std::span<const std::uint32_t> addresses, Visit& visit) {
    while (!addresses.empty()) {
      const std::size_t count = std::min(addresses.size(), most_vectors());
      if (Status status = open(); !status.ok()) return status;
      plan.open({});
      plan.take(addresses.first(count));
      plan.close(room());
      if (Status status = post_fetch(plan); !status.ok()) return status;
      if (Status status = wait(); !status.ok()) return status;
      if (Status status = hand_out_fetched(plan, visit); !status.ok()) return status;
      addresses = addresses.subspan(count);
    }
    return {};
  }

  /// Begins a round, whose reads fill the lane's buffer from its start.
  Status open() {
    buffer_end_ = 0;
    if (caller_ != nullptr) {
      if (Status status = check_time(deadline_, caller_); !status.ok()) return status;
    }
    return lane_.begin(deadline_);
  }

  /// Returns the number of the read in its round.
  std::uint32_t add(const layout::ByteRange& range) {
    const auto number = static_cast<std::uint32_t>(reads().size());
    const std::uint64_t at = buffer_end_;
    ReadLane::Appender(lane_).add(range.offset, static_cast<std::uint32_t>(range.bytes), at);
    buffer_end_ = round_up(at + range.bytes, kCacheLineBytes);
    return number;
  }

  Status post() {
    counts().reads += reads().size();
    for (const transport::ReadRequest& read : reads()) counts().bytes += read.bytes;
    return lane_.post(deadline_);
  }
  Status wait() { return lane_.wait(deadline_, partial_); }

  std::span<const std::byte> bytes(std::uint32_t read) const { return lane_.bytes(read); }
  /// Returns false for a read that a partial search must do without.
  bool arrived(std::uint32_t read) const { return !bytes(read).empty(); }
  void count_lost() {
    for (std::uint32_t i = 0; i < reads().size(); ++i) counts().lost += arrived(i) ? 0 : 1;
  }

  /// Returns the room left in the lane's buffer after the round so far.
  PostingRoom room() const {
    return {.bytes = dispatcher_.options().lane_bytes - buffer_end_,
            .read_bytes = dispatcher_.endpoint().limits().max_read_bytes};
  }

  /// Posts a round of what the plan, closed with room(), wants. Its bytes come after those that the
  /// last round has brought, which stay where they are.
  Status post_fetch(const PostingPlan& plan) {
    if (Status status = lane_.begin(deadline_); !status.ok()) return status;
    add_runs(plan);
    counts().stray_reads += reads().size();
    return post();
  }

  /// Hands out what post_fetch() has brought.
  template <typename Visit>
  Status hand_out_fetched(const PostingPlan& plan, Visit& visit) {
    if (reads().empty()) return {};
    const bool in_place = lane_.by_reference();
    const auto all = in_place ? plan.strays() : plan.picks();
    const auto picks = partial_ ? leave_out_lost(plan, all) : all;
    if (picks.empty()) return {};
    if (in_place) return hand_out_in_place(picks, visit);
    const std::uint64_t bytes =
        std::uint64_t{plan.run_records()} * locator_.geometry().record_bytes();
    // The reads are stored one after another.
    return hand_out(index_, {reads().front().destination, bytes}, picks, visit);
  }

 private:
  static constexpr std::size_t kLaneBytes = std::size_t{8} << 20;
  static constexpr std::uint32_t kMaxReads = 32768;

  static std::size_t lane_bytes(const layout::ClusterLocator& locator) {
    const std::size_t one = locator.max_cluster_bytes() + 3 * kCacheLineBytes +
                            std::size_t{locator.max_members()} * locator.geometry().record_bytes();
    return std::max(kLaneBytes, round_up(one, kCacheLineBytes));
  }

  std::span<const transport::ReadRequest> reads() const { return lane_.reads(); }

  /// Returns the number of vectors that fit a round wherever they are.
  std::size_t most_vectors() const {
    return std::min<std::size_t>(limits().max_reads,
                                 limits().lane_bytes / locator_.geometry().record_bytes());
  }

  void add_runs(const PostingPlan& plan) {
    ReadLane::Appender round(lane_);
    const std::uint64_t record = locator_.geometry().record_bytes();
    std::uint64_t at = buffer_end_;
    for (const PostingPlan::Run& run : plan.runs()) {
      const std::uint64_t bytes = run.records * record;
      round.add(locator_.offset_of(run.first), static_cast<std::uint32_t>(bytes), at);
      at += bytes;
    }
  }

  /// Reads by reference stay where the whole region is.
  template <typename Visit>
  Status hand_out_in_place(std::span<const layout::Address> addresses, Visit& visit) {
    const std::byte* const first = bytes(first_arrived()).data();
    const std::uint64_t begin = locator_.offset_of(0);
    return hand_out(
        index_,
        {first - (reads()[first_arrived()].offset - begin), locator_.region_bytes() - begin},
        addresses, visit);
  }

  std::uint32_t first_arrived() const {
    std::uint32_t read = 0;
    while (!arrived(read)) ++read;
    return read;
  }

  /// `all` has an element for each of the plan's picks. Returns those whose read has come.
  std::span<const std::uint32_t> leave_out_lost(const PostingPlan& plan,
                                                std::span<const std::uint32_t> all) {
    kept_.clear();
    std::uint32_t read = 0;
    std::uint32_t end = 0;  ///< end of the read's records
    for (std::size_t i = 0; i < all.size(); ++i) {
      while (end <= plan.picks()[i]) end += plan.runs()[read++].records;
      if (arrived(read - 1)) kept_.push_back(all[i]);
    }
    count_lost();
    return kept_;
  }

  const ClusterIndex& index_;
  const layout::ClusterLocator& locator_;
  ReadDispatcher& dispatcher_;
  ReadLane& lane_;
  Ticks deadline_ = 0;
  const SearchCaller* caller_ = nullptr;
  bool partial_ = false;
  QueryCounts* counts_ = nullptr;
  std::vector<std::uint32_t> kept_;
  std::uint64_t buffer_end_ = 0;
};

}  // namespace farvec::search
