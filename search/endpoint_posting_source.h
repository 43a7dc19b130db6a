// Clusters by one-sided reads: emulated devices, and every transport that is not a load.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/posting_block.h"
#include "base/status.h"
#include "search/cluster_index.h"
#include "search/posting_plan.h"
#include "search/read_dispatcher.h"
#include "search/read_limits.h"
#include "search/search_core.h"

namespace farvec::search {

/// One fiber's PostingSource. The lists and groups of all clusters go out with one doorbell, then
/// all strays; the groups are scored while the strays are on their way. What does not fit the
/// lane's buffer goes in further rounds.
class EndpointPostingSource {
 public:
  /// The dispatcher has dispatcher_options().
  EndpointPostingSource(const ClusterIndex& index, ReadDispatcher& dispatcher, std::uint32_t lane)
      : index_(index),
        locator_(index.locator()),
        dispatcher_(dispatcher),
        lane_(lane),
        plan_(index.locator()),
        iota_(index.locator().max_members()) {
    std::iota(iota_.begin(), iota_.end(), 0u);
  }

  /// What the dispatcher must have for the searches of such an index. Throws Error when a list has
  /// more addresses than there can be reads.
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

  /// Before each search. The task must live until the next call.
  void begin(SearchTask& task, const PostingPlanOptions& options) {
    task_ = &task;
    dedup_ = options.dedup;
    plan_.begin(options);
  }
  /// After a search that had to do without some reads.
  double coverage() const { return dispatcher_.endpoint().coverage(); }
  bool distinct() const { return dedup_ && locator_.geometry().decouples(); }
  std::size_t dram_bytes() const {
    return plan_.dram_bytes() + iota_.size() * sizeof(std::uint32_t) +
           parts_.capacity() * sizeof(Part) + reads_.capacity() * sizeof(LaneRead);
  }

  template <typename Visit>
  Status probe(std::span<const ClusterId> clusters, Visit&& visit) {
    while (!clusters.empty()) {
      const std::size_t count = fitting(clusters);
      if (Status status = round(clusters.first(count), visit); !status.ok()) return status;
      clusters = clusters.subspan(count);
    }
    return {};
  }

 private:
  static constexpr std::size_t kLaneBytes = std::size_t{8} << 20;
  static constexpr std::uint32_t kMaxReads = 32768;
  static constexpr std::uint32_t kReadsBesides = 2;  ///< strays: of a cluster's list and group

  /// A cluster of a round, and which reads bring its parts.
  struct Part {
    ClusterId cluster = 0;
    std::uint32_t list_read = 0;
    std::uint32_t group_read = 0;      ///< may be the same
    std::uint64_t group_begin = 0;     ///< in its read
    const std::byte* group = nullptr;  ///< once it is there
  };

  /// Most that a cluster can bring: its list, its group, and every stray.
  static std::uint64_t most_bytes(const layout::ClusterLocator& locator, ClusterId cluster) {
    return locator.cluster_bytes(cluster) + 3 * kCacheLineBytes +
           std::uint64_t{locator.entry(cluster).list_addresses} * locator.geometry().record_bytes();
  }
  static std::size_t lane_bytes(const layout::ClusterLocator& locator) {
    const std::size_t one = locator.max_cluster_bytes() + 3 * kCacheLineBytes +
                            std::size_t{locator.max_members()} * locator.geometry().record_bytes();
    return std::max(kLaneBytes, round_up(one, kCacheLineBytes));
  }

  /// How many of the clusters, at least one, go in one round.
  std::size_t fitting(std::span<const ClusterId> clusters) const {
    const DispatcherOptions& lanes = dispatcher_.options();
    std::uint64_t bytes = 0;
    std::uint64_t reads = 0;
    std::size_t count = 0;
    for (const ClusterId cluster : clusters) {
      bytes += most_bytes(locator_, cluster);
      reads += locator_.entry(cluster).list_addresses + kReadsBesides;
      if (count > 0 && (bytes > lanes.lane_bytes || reads > lanes.max_reads)) break;
      ++count;
    }
    return count;
  }

  template <typename Visit>
  Status round(std::span<const ClusterId> clusters, Visit& visit) {
    plan_.open(clusters);
    plan_cluster_reads(clusters);
    if (Status status = post(); !status.ok()) return status;
    if (Status status = wait(); !status.ok()) return status;
    if (Status status = take_parts(); !status.ok()) return status;
    plan_.close({.bytes = dispatcher_.options().lane_bytes - buffer_end_,
                 .read_bytes = dispatcher_.endpoint().limits().max_read_bytes});
    plan_stray_reads();
    if (Status status = post(); !status.ok()) return status;
    const Status groups = hand_out_groups(visit);
    if (Status status = wait(); !status.ok()) return status;
    if (!groups.ok()) return groups;
    return hand_out_strays(visit);
  }

  Status post() {
    task_->counts.reads += reads_.size();
    for (const LaneRead& read : reads_) task_->counts.bytes += read.bytes;
    return dispatcher_.post(lane_, reads_, task_->deadline);
  }
  Status wait() { return dispatcher_.wait(lane_, task_->deadline, task_->partial); }

  std::uint32_t add_read(const layout::ByteRange& range) {
    const std::uint64_t at = buffer_end_;
    reads_.push_back({range.offset, static_cast<std::uint32_t>(range.bytes), at});
    buffer_end_ = round_up(at + range.bytes, kCacheLineBytes);
    return static_cast<std::uint32_t>(reads_.size() - 1);
  }

  void plan_cluster_reads(std::span<const ClusterId> clusters) {
    parts_.clear();
    reads_.clear();
    buffer_end_ = 0;
    QueryCounts& counts = task_->counts;
    for (const ClusterId cluster : clusters) {
      const layout::ByteRange list = locator_.list(cluster);
      const layout::ByteRange group = locator_.group(cluster);
      const layout::ByteRange whole = locator_.whole(cluster);
      Part part{cluster};
      counts.group_reads += group.bytes > 0 ? 1 : 0;
      if (whole.bytes > 0) {
        part.group_begin = group.offset - whole.offset;
        part.list_read = part.group_read = add_read(whole);
      } else {
        if (list.bytes > 0) {
          ++counts.list_reads;
          part.list_read = add_read(list);
        }
        if (group.bytes > 0) part.group_read = add_read(group);
      }
      parts_.push_back(part);
    }
  }

  /// Hands the lists to the plan and finds the groups; what a partial search must do without is
  /// empty.
  Status take_parts() {
    for (Part& part : parts_) {
      const std::uint64_t list_bytes = locator_.list(part.cluster).bytes;
      if (list_bytes > 0 && arrived(part.list_read)) {
        const auto list = dispatcher_.bytes(lane_, part.list_read).first(list_bytes);
        if (Status status = plan_.take_list(part.cluster, list); !status.ok()) return status;
      }
      if (locator_.group(part.cluster).bytes > 0 && arrived(part.group_read)) {
        part.group = dispatcher_.bytes(lane_, part.group_read).data() + part.group_begin;
      }
    }
    count_lost();
    return {};
  }
  void count_lost() {
    for (std::uint32_t i = 0; i < reads_.size(); ++i) task_->counts.lost += arrived(i) ? 0 : 1;
  }
  bool arrived(std::uint32_t read) const { return !dispatcher_.bytes(lane_, read).empty(); }

  void plan_stray_reads() {
    reads_.clear();
    const std::uint64_t record = locator_.geometry().record_bytes();
    strays_at_ = buffer_end_;
    std::uint64_t at = strays_at_;
    for (const PostingPlan::Run& run : plan_.runs()) {
      reads_.push_back(
          {locator_.offset_of(run.first), static_cast<std::uint32_t>(run.records * record), at});
      at += run.records * record;
    }
    task_->counts.stray_reads += reads_.size();
  }

  template <typename Visit>
  Status hand_out(std::span<const std::byte> records, std::span<const std::uint32_t> picks,
                  Visit& visit) {
    const VectorView rows = locator_.rows(records, index_.dimension(), index_.type());
    if (!locator_.intact(rows, picks)) [[unlikely]] {
      return {StatusCode::data_loss, "a record does not match its checksum"};
    }
    visit(PostingBlock{rows, picks});
    return {};
  }

  template <typename Visit>
  Status hand_out_groups(Visit& visit) {
    for (const Part& part : parts_) {
      if (part.group == nullptr) continue;
      const std::uint32_t records = locator_.entry(part.cluster).group_records;
      Status status = hand_out({part.group, locator_.group(part.cluster).bytes},
                               std::span(iota_).first(records), visit);
      if (!status.ok()) return status;
    }
    return {};
  }

  template <typename Visit>
  Status hand_out_strays(Visit& visit) {
    if (reads_.empty()) return {};
    const bool in_place = dispatcher_.by_reference();
    const auto all = in_place ? plan_.strays() : plan_.picks();
    const auto picks = task_->partial ? leave_out_lost(all) : all;
    if (picks.empty()) return {};
    if (in_place) return hand_out_in_place(picks, visit);
    const std::uint64_t bytes =
        std::uint64_t{plan_.run_records()} * locator_.geometry().record_bytes();
    // The reads lie one after another.
    const std::byte* const first = dispatcher_.bytes(lane_, first_arrived()).data();
    return hand_out({first - (reads_[first_arrived()].at - strays_at_), bytes}, picks, visit);
  }

  /// Reads by reference lie where the whole region lies.
  template <typename Visit>
  Status hand_out_in_place(std::span<const layout::Address> addresses, Visit& visit) {
    const std::byte* const first = dispatcher_.bytes(lane_, first_arrived()).data();
    const std::uint64_t begin = locator_.offset_of(0);
    return hand_out(
        {first - (reads_[first_arrived()].offset - begin), locator_.region_bytes() - begin},
        addresses, visit);
  }

  std::uint32_t first_arrived() const {
    std::uint32_t read = 0;
    while (!arrived(read)) ++read;
    return read;
  }

  /// `all` has an element for each of the plan's picks. Returns those whose read has come.
  std::span<const std::uint32_t> leave_out_lost(std::span<const std::uint32_t> all) {
    kept_.clear();
    std::uint32_t read = 0;
    std::uint32_t end = 0;  ///< of the read's records
    for (std::size_t i = 0; i < all.size(); ++i) {
      while (end <= plan_.picks()[i]) end += plan_.runs()[read++].records;
      if (arrived(read - 1)) kept_.push_back(all[i]);
    }
    count_lost();
    return kept_;
  }

  const ClusterIndex& index_;
  const layout::ClusterLocator& locator_;
  ReadDispatcher& dispatcher_;
  const std::uint32_t lane_;
  PostingPlan plan_;
  std::vector<std::uint32_t> iota_;  ///< 0, 1, 2...
  SearchTask* task_ = nullptr;
  bool dedup_ = true;
  std::vector<Part> parts_;
  std::vector<LaneRead> reads_;
  std::vector<std::uint32_t> kept_;
  std::uint64_t buffer_end_ = 0;
  std::uint64_t strays_at_ = 0;
};

}  // namespace farvec::search
