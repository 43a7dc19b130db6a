// Reads records by load: the region is mapped into this process (DRAM, shared memory, devdax).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "coroutines/scheduler.h"
#include "graph/beam_search.h"
#include "layout/graph/graph_layout.h"
#include "search/core/search_core.h"
#include "transport/emulated/device.h"

namespace farvec::search {

/// A MappedNodeSource is one fiber's NodeSource. expand() prefetches every line of the frontier's
/// records, yields to the next fiber, and reads them in place when it is back. With a modelled
/// device, nothing is read before the device would have brought it.
class MappedNodeSource {
 public:
  MappedNodeSource(const layout::GraphLocator& locator, const std::byte* region,
                   coroutines::Scheduler& scheduler, transport::DeviceReader* device)
      : locator_(locator),
        region_(region),
        scheduler_(scheduler),
        device_(device),
        scratch_(locator.geometry().scratch_ids()) {}

  /// Is called before each search. `counts` must live until the next call.
  void begin(const SearchRequest& request, QueryCounts& counts) {
    deadline_ = request.deadline;
    caller_ = request.caller;
    counts_ = &counts;
  }
  double coverage() const { return 1; }

  void expect(NodeId id) const { locator_.prefetch(id); }
  /// Lets the core's other searches go on.
  void pause() { scheduler_.yield(); }

  template <typename Visit>
  Status expand(std::span<const NodeId> frontier, Visit&& visit) {
    return expand_passing(frontier, visit, [](NodeId) { return false; });
  }

  /// See graph::ListSource.
  template <typename Visit, typename Passed>
  [[gnu::always_inline]] Status expand_passing(std::span<const NodeId> frontier, Visit&& visit,
                                               Passed&& passed) {
    for (std::size_t i = 0; i < frontier.size(); ++i) {
      extents_[i] =
          passed(frontier[i]) ? locator_.locate_list(frontier[i]) : locator_.locate(frontier[i]);
      prefetch_range(region_ + extents_[i].offset, extents_[i].bytes);
      counts_->bytes += extents_[i].bytes;
    }
    counts_->reads += static_cast<std::uint32_t>(frontier.size());
    if (counts_->reads % kReadsPerTimeCheck < frontier.size()) {
      if (Status status = check_time(deadline_, caller_); !status.ok()) return status;
    }
    const std::span<const layout::Extent> asked(extents_, frontier.size());
    // When all reads of the hop are there.
    const Ticks ready = device_ != nullptr ? device_->reserve(asked, &layout::Extent::bytes) : 0;
    if (ready > deadline_) {
      return {StatusCode::deadline_exceeded, "the device would bring the records too late"};
    }
    scheduler_.yield();
    while (device_ != nullptr && now_ticks() < ready) scheduler_.yield();
    for (std::size_t i = 0; i < frontier.size(); ++i) {
      const std::span<const std::byte> bytes(region_ + extents_[i].offset, extents_[i].bytes);
      const Result<NodeRecord> record =
          passed(frontier[i]) ? locator_.parse_list(frontier[i], extents_[i], bytes, scratch_)
                              : locator_.parse(frontier[i], extents_[i], bytes, scratch_);
      if (!record.ok()) return record.status();
      visit(frontier[i], record.value());
    }
    return {};
  }

 private:
  static constexpr std::uint32_t kReadsPerTimeCheck = 16;

  const layout::GraphLocator& locator_;
  const std::byte* const region_;
  coroutines::Scheduler& scheduler_;
  transport::DeviceReader* const device_;
  Ticks deadline_ = 0;
  const SearchCaller* caller_ = nullptr;
  QueryCounts* counts_ = nullptr;
  layout::Extent extents_[graph::kMaxWidth];
  std::vector<NodeId> scratch_;  ///< neighbours of the record that is visited
};

}  // namespace farvec::search
