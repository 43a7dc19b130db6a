// Searches of one index by fibers of a scheduler, which may serve other indexes too.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/status.h"
#include "coroutines/scheduler.h"
#include "search/core/search_core.h"
#include "transport/endpoint.h"

namespace farvec::search {

class SearchIndex;

/// What a core searches one index with: working memory of so many searches at once, and what brings
/// their records. Belongs to the scheduler that it was made with and to its thread, and leaves the
/// scheduler's poller and its other fibers alone. What it searches and the scheduler must outlive
/// it; no fiber is in search() when it is destroyed.
class CorePart {
 public:
  CorePart() = default;
  virtual ~CorePart() = default;
  CorePart(const CorePart&) = delete;
  CorePart& operator=(const CorePart&) = delete;

  /// Searches that it can have in flight.
  virtual std::uint32_t slots() const = 0;

  /// In a fiber of the scheduler, which it suspends; one fiber at a time uses a slot, any of them.
  /// Fills in the task's results, counts and coverage; its start, which the deadline is held
  /// against, its status and its end are the caller's. Errors are those of SearchCore::run(). One
  /// that ends as `unavailable` may not have suspended: before the next, the poller gets a turn.
  virtual Status search(std::uint32_t slot, SearchTask& task) = 0;

  /// Whoever owns the scheduler calls it from the scheduler's poller. True when something came.
  /// Throws Error, once, when what it reads from is lost for good; the searches that are under way
  /// then end as `unavailable`, and so does every later one. A poller must not throw: it keeps the
  /// error for those whom it concerns.
  virtual bool poll() = 0;

  /// Of this part alone, and without live_searches, which whoever starts searches counts. The
  /// scheduler's thread, or when it runs no longer.
  virtual CoreStatistics statistics() const = 0;
};

/// As make_core() over a mapped region.
std::unique_ptr<CorePart> make_part(const SearchIndex& index, std::span<const std::byte> region,
                                    const SearchCoreOptions& options,
                                    coroutines::Scheduler& scheduler);

/// As make_core() over an endpoint.
std::unique_ptr<CorePart> make_part(const SearchIndex& index,
                                    std::unique_ptr<transport::Endpoint> endpoint,
                                    const SearchCoreOptions& options,
                                    coroutines::Scheduler& scheduler);

}  // namespace farvec::search
