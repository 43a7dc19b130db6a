// A CoreLoop is the loop of one core: it takes tasks from its feed and runs them in fibers, search
// after search.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "coroutines/scheduler.h"
#include "search/core/core_part.h"
#include "search/core/search_core.h"

namespace farvec::search {

/// Makes the part with which a core searches, for the core's scheduler; called once. May throw
/// Error.
using PartFactory = std::function<std::unique_ptr<CorePart>(coroutines::Scheduler&)>;

struct CoreFibers {
  std::uint32_t slots = 1;  ///< slots of the part
  /// Fibers for what the part spawns. It may try to spawn more, and may then have those of slots
  /// that have no fiber yet.
  std::uint32_t helpers = 0;
  /// The most switches of fibers between two polls.
  std::uint32_t poll_interval = coroutines::SchedulerOptions{}.poll_interval;
};

/// Owns a scheduler, and runs a fiber for each slot of a part, as far as tasks need them.
class CoreLoop final : public SearchCore {
 public:
  CoreLoop(const CoreFibers& fibers, const PartFactory& make_part);

  void run(TaskFeed& feed) override;
  CoreStatistics statistics() const override;

 private:
  void spawn_fiber();
  void dispatch();
  void offer_task();
  void fail();
  bool poll();
  SearchTask* take_task();
  void run_task(std::uint32_t slot, SearchTask& task);
  void serve(std::uint32_t slot);

  coroutines::Scheduler scheduler_;
  const std::unique_ptr<CorePart> part_;
  std::vector<coroutines::Fiber*> idle_;  ///< fibers that wait for a task
  TaskFeed* feed_ = nullptr;
  SearchTask* waiting_ = nullptr;  ///< taken from the feed for a fiber that was just woken
  std::uint32_t spawned_ = 0;      ///< fibers of this run; the number of a fiber is its slot's
  std::uint32_t live_ = 0;
  bool stopping_ = false;
  std::exception_ptr failure_;
};

}  // namespace farvec::search
