// MappedReads are one fiber's reads by load of a region of clusters: what its sources share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "coroutines/scheduler.h"
#include "search/core/search_core.h"
#include "search/sources/posting_plan.h"
#include "search/sources/posting_records.h"
#include "transport/emulated/device.h"

namespace farvec::search {

/// The region is mapped into this process (DRAM, shared memory, devdax). What is requested is
/// prefetched; with a modelled device it is not there before the device would have brought it.
class MappedReads {
 public:
  /// The most bytes that a modelled device is asked for at once.
  static constexpr std::uint32_t kMostReadBytes = std::numeric_limits<std::uint32_t>::max();

  MappedReads(const ClusterIndex& index, const std::byte* region, coroutines::Scheduler& scheduler,
              transport::DeviceReader* device)
      : index_(index),
        locator_(index.locator()),
        region_(region),
        scheduler_(scheduler),
        device_(device) {}

  /// Is called before each search. `counts` must live until the next call.
  void begin(const SearchRequest& request, QueryCounts& counts) {
    deadline_ = request.deadline;
    caller_ = request.caller;
    counts_ = &counts;
  }
  QueryCounts& counts() { return *counts_; }

  std::span<const std::byte> bytes(const layout::ByteRange& range) const {
    return {region_ + range.offset, range.bytes};
  }

  /// Starts to load all that was requested.
  void prefetch(const layout::ByteRange& range) const {
    prefetch_range(region_ + range.offset, range.bytes);
  }

  void request(const layout::ByteRange& range) {
    prefetch_range(region_ + range.offset, std::min<std::size_t>(range.bytes, kPrefetchedBytes));
    count(range.bytes);
  }

  /// Lets other fibers run until what was requested is there.
  Status come_back() {
    if (device_ != nullptr) reserve();
    const Ticks ready = ready_;
    ready_ = 0;
    if (ready > deadline_) {
      return {StatusCode::deadline_exceeded, "the device would bring the records too late"};
    }
    if (Status status = check_time(deadline_, caller_); !status.ok()) return status;
    scheduler_.yield();
    while (device_ != nullptr && now_ticks() < ready) scheduler_.yield();
    return {};
  }

  /// Requests what the plan wants and, with a device, waits for it.
  Status fetch(const PostingPlan& plan) {
    counts().stray_reads += plan.runs().size();
    // The kernel prefetches the rows before it uses them: without a device there is nothing to wait
    // for.
    const std::uint32_t record = locator_.geometry().record_bytes();
    for (const PostingPlan::Run& run : plan.runs()) count(std::uint64_t{run.records} * record);
    return device_ != nullptr ? come_back() : Status();
  }

  /// Fetches the vectors at `addresses` and hands them out, like CodedSource::fetch().
  template <typename Visit>
  Status fetch(PostingPlan& plan, std::span<const std::uint32_t> addresses, Visit& visit) {
    plan.open({});
    plan.take(addresses);
    plan.close({.read_bytes = kMostReadBytes});
    if (Status status = fetch(plan); !status.ok()) return status;
    return hand_out_fetched(plan, visit);
  }

  /// Hands out what fetch() has brought.
  template <typename Visit>
  Status hand_out_fetched(const PostingPlan& plan, Visit& visit) const {
    if (plan.strays().empty()) return {};
    const layout::ByteRange all{locator_.offset_of(0),
                                locator_.region_bytes() - locator_.offset_of(0)};
    return hand_out(index_, bytes(all), plan.strays(), visit);
  }

 private:
  static constexpr std::size_t kPrefetchedBytes = 512;  ///< the hardware's prefetcher does the rest
  static constexpr std::size_t kRequests = 64;

  void count(std::uint64_t bytes) {
    ++counts().reads;
    counts().bytes += bytes;
    if (device_ == nullptr) return;
    requested_[requests_++] = static_cast<std::uint32_t>(bytes);
    if (requests_ == kRequests) reserve();
  }

  void reserve() {
    if (requests_ == 0) return;
    ready_ = device_->reserve({requested_, requests_});
    requests_ = 0;
  }

  const ClusterIndex& index_;
  const layout::ClusterLocator& locator_;
  const std::byte* const region_;
  coroutines::Scheduler& scheduler_;
  transport::DeviceReader* const device_;
  Ticks deadline_ = 0;
  const SearchCaller* caller_ = nullptr;
  QueryCounts* counts_ = nullptr;
  std::uint32_t requested_[kRequests];
  std::size_t requests_ = 0;
  Ticks ready_ = 0;
};

}  // namespace farvec::search
