// Clusters by load: the region is mapped into this process (DRAM, shared memory, devdax).
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/posting_block.h"
#include "base/status.h"
#include "coroutines/scheduler.h"
#include "search/cluster_index.h"
#include "search/posting_plan.h"
#include "search/search_core.h"
#include "transport/emulated/device.h"

namespace farvec::search {

/// One fiber's PostingSource. Lists and groups are prefetched, then, after other fibers have had
/// their turn, read in place; strays as well. With a modelled device, not before that would have
/// brought them.
class MappedPostingSource {
 public:
  /// Most bytes that a modelled device is asked for at once.
  static constexpr std::uint32_t kMostReadBytes = std::numeric_limits<std::uint32_t>::max();

  MappedPostingSource(const ClusterIndex& index, const std::byte* region,
                      coroutines::Scheduler& scheduler, transport::Device* device)
      : index_(index),
        locator_(index.locator()),
        region_(region),
        scheduler_(scheduler),
        device_(device),
        plan_(index.locator()),
        iota_(index.locator().max_members()) {
    std::iota(iota_.begin(), iota_.end(), 0u);
  }

  /// Before each search. The task must live until the next call.
  void begin(SearchTask& task, const PostingPlanOptions& options) {
    task_ = &task;
    dedup_ = options.dedup;
    plan_.begin(options);
  }
  double coverage() const { return 1; }
  bool distinct() const { return dedup_ && locator_.geometry().decouples(); }
  std::size_t dram_bytes() const {
    return plan_.dram_bytes() + iota_.size() * sizeof(std::uint32_t);
  }

  template <typename Visit>
  Status probe(std::span<const ClusterId> clusters, Visit&& visit) {
    plan_.open(clusters);
    if (Status status = fetch_clusters(clusters); !status.ok()) return status;
    for (const ClusterId cluster : clusters) {
      const layout::ByteRange list = locator_.list(cluster);
      if (list.bytes == 0) continue;
      if (Status status = plan_.take_list(cluster, bytes(list)); !status.ok()) return status;
    }
    plan_.close({.read_bytes = kMostReadBytes});
    if (Status status = fetch_strays(); !status.ok()) return status;
    for (const ClusterId cluster : clusters) {
      const layout::ByteRange group = locator_.group(cluster);
      const auto records = locator_.entry(cluster).group_records;
      if (records == 0) continue;
      if (Status status = hand_out(bytes(group), std::span(iota_).first(records), visit);
          !status.ok()) {
        return status;
      }
    }
    if (plan_.strays().empty()) return {};
    const layout::ByteRange all{locator_.offset_of(0),
                                locator_.region_bytes() - locator_.offset_of(0)};
    return hand_out(bytes(all), plan_.strays(), visit);
  }

 private:
  static constexpr std::size_t kPrefetchedBytes = 512;  ///< the hardware's prefetcher does the rest
  static constexpr std::size_t kRequests = 64;

  std::span<const std::byte> bytes(const layout::ByteRange& range) const {
    return {region_ + range.offset, range.bytes};
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

  Status fetch_clusters(std::span<const ClusterId> clusters) {
    ready_ = 0;
    QueryCounts& counts = task_->counts;
    for (const ClusterId cluster : clusters) {
      const layout::ByteRange whole = locator_.whole(cluster);
      const layout::ByteRange list = locator_.list(cluster);
      const layout::ByteRange group = locator_.group(cluster);
      counts.group_reads += group.bytes > 0 ? 1 : 0;
      if (whole.bytes > 0) {
        request(whole);
        continue;
      }
      counts.list_reads += list.bytes > 0 ? 1 : 0;
      if (list.bytes > 0) request(list);
      if (group.bytes > 0) request(group);
    }
    return come_back();
  }

  Status fetch_strays() {
    task_->counts.stray_reads += plan_.runs().size();
    // The kernel prefetches the rows ahead of their use: nothing to wait for without a device.
    const std::uint32_t record = locator_.geometry().record_bytes();
    ready_ = 0;
    for (const PostingPlan::Run& run : plan_.runs()) {
      count(std::uint64_t{run.records} * record);
    }
    return device_ != nullptr ? come_back() : Status();
  }

  void request(const layout::ByteRange& range) {
    prefetch_range(region_ + range.offset, std::min<std::size_t>(range.bytes, kPrefetchedBytes));
    count(range.bytes);
  }

  void count(std::uint64_t bytes) {
    ++task_->counts.reads;
    task_->counts.bytes += bytes;
    if (device_ == nullptr) return;
    requested_[requests_++] = static_cast<std::uint32_t>(bytes);
    if (requests_ == kRequests) reserve();
  }

  void reserve() {
    if (requests_ == 0) return;
    Ticks ready[kRequests];
    device_->reserve({requested_, requests_}, {ready, requests_});
    ready_ = ready[requests_ - 1];
    requests_ = 0;
  }

  /// Lets other fibers run until what was requested is there.
  Status come_back() {
    if (device_ != nullptr) reserve();
    if (ready_ > task_->deadline || now_ticks() > task_->deadline) {
      return {StatusCode::deadline_exceeded, "the deadline passed during the search"};
    }
    scheduler_.yield();
    while (device_ != nullptr && now_ticks() < ready_) scheduler_.yield();
    return {};
  }

  const ClusterIndex& index_;
  const layout::ClusterLocator& locator_;
  const std::byte* const region_;
  coroutines::Scheduler& scheduler_;
  transport::Device* const device_;
  PostingPlan plan_;
  std::vector<std::uint32_t> iota_;  ///< 0, 1, 2...
  SearchTask* task_ = nullptr;
  bool dedup_ = true;
  std::uint32_t requested_[kRequests];
  std::size_t requests_ = 0;
  Ticks ready_ = 0;
};

}  // namespace farvec::search
