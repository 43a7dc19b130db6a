// A CorePart runs searches of one index in fibers of a scheduler, which may serve other indexes
// too.
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

/// A CorePart is what a core searches one index with: working memory for slots() searches at once,
/// and the source of their records. It belongs to the scheduler with which it was made and to that
/// scheduler's thread, and leaves the scheduler's poller and its other fibers alone. The index and
/// the scheduler must outlive it. No fiber is in search() when it is destroyed.
class CorePart {
 public:
  CorePart() = default;
  virtual ~CorePart() = default;
  CorePart(const CorePart&) = delete;
  CorePart& operator=(const CorePart&) = delete;

  /// Returns the number of searches that it can have in flight.
  virtual std::uint32_t slots() const = 0;

  /// Says whether a request may have a condition. Otherwise the core refuses it.
  virtual bool takes_conditions() const { return false; }

  /// Returns how many bytes more its tier could read in the time that one more request takes; 0
  /// where records are loads. Plans weigh reads by it.
  virtual std::uint32_t request_bytes() const { return 0; }

  /// Is called in a fiber of the scheduler, which it suspends. Any fiber may use a slot, but one
  /// fiber at a time. Fills in the answer, except for its status, which is returned. Both must live
  /// until then. Errors are those of SearchCore::run(). A search that ends as `unavailable` may not
  /// have suspended: let the poller run before the next one.
  virtual Status search(std::uint32_t slot, const SearchRequest& request, SearchAnswer& answer) = 0;

  /// The owner of the scheduler calls it from the scheduler's poller. True when something came.
  /// Throws Error, once, when the source of records is lost for good; the searches that are under
  /// way then end as `unavailable`, and so does every later one. A poller must not throw: it has to
  /// keep the error for the callers that it concerns.
  virtual bool poll() = 0;

  /// Returns whether fibers of this part work that no search has begun. The core's loop then takes
  /// no pause. Call it on the scheduler's thread.
  virtual bool busy() const { return false; }

  /// Returns the statistics of this part alone, without live_searches, which the code that starts
  /// searches counts. Call it on the scheduler's thread, or when that no longer runs.
  virtual CoreStatistics statistics() const = 0;
};

/// Works like make_core() over a mapped region.
std::unique_ptr<CorePart> make_part(const SearchIndex& index, std::span<const std::byte> region,
                                    const SearchCoreOptions& options,
                                    coroutines::Scheduler& scheduler);

/// Works like make_core() over an endpoint.
std::unique_ptr<CorePart> make_part(const SearchIndex& index,
                                    std::unique_ptr<transport::Endpoint> endpoint,
                                    const SearchCoreOptions& options,
                                    coroutines::Scheduler& scheduler);

}  // namespace farvec::search
