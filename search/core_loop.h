// The loop of one core: takes tasks from its feed and runs them in fibers, search after search.
#pragma once

#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "coroutines/scheduler.h"
#include "search/search_core.h"

namespace farvec::search {

/// The fibers of a core, one for each Searcher, which has
///   Status search(SearchTask&)   in the fiber; counts and results go to the task
///   std::size_t dram_bytes() const
template <typename Searcher>
class CoreLoop : public SearchCore {
 public:
  explicit CoreLoop(const SearchCoreOptions& options)
      : scheduler_({options.slots}), reader_(options.device) {}

  coroutines::Scheduler& scheduler() { return scheduler_; }
  void add_slot(std::unique_ptr<Searcher> searcher) {
    slots_.push_back(std::make_unique<Slot>(Slot{std::move(searcher)}));
  }

  void run(TaskFeed& feed) override {
    feed_ = &feed;
    stopping_ = false;
    failure_ = nullptr;
    for (auto& slot : slots_) {
      const Status status = scheduler_.spawn([this, &slot] {
        try {
          serve(*slot);
        } catch (...) {
          fail();
        }
      });
      FARVEC_CHECK(status.ok(), "{}", status.message());
    }
    while (!stopping_) dispatch();
    for (Slot* slot : idle_) scheduler_.wake(slot->fiber);
    scheduler_.run();
    idle_.clear();
    if (failure_) std::rethrow_exception(failure_);
  }

  CoreStatistics statistics() const override {
    CoreStatistics result;
    result.live_searches = live_;
    for (const auto& slot : slots_) {
      result.dram_bytes += slot->searcher->dram_bytes();
    }
    return result;
  }

 private:
  struct Slot {
    std::unique_ptr<Searcher> searcher;
    coroutines::Fiber* fiber = nullptr;
  };

  /// One turn of the core's loop.
  void dispatch() {
    try {
      if (!idle_.empty()) offer_task();
      scheduler_.run_once();
      if (live_ == 0 && waiting_ == nullptr && idle_.size() == slots_.size()) {
        if (feed_->finished())
          stopping_ = true;
        else
          feed_->idle();
      }
    } catch (...) {
      fail();
    }
  }

  void offer_task() {
    waiting_ = feed_->next();
    if (waiting_ == nullptr) return;
    Slot* slot = idle_.back();
    idle_.pop_back();
    scheduler_.wake(slot->fiber);
  }

  void fail() {
    failure_ = std::current_exception();
    stopping_ = true;
  }

  SearchTask* take_task() {
    if (waiting_ != nullptr) return std::exchange(waiting_, nullptr);
    return feed_->next();
  }

  /// The body of a slot's fiber: search after search until the core stops.
  void serve(Slot& slot) {
    slot.fiber = scheduler_.running();
    while (!stopping_) {
      SearchTask* task = take_task();
      if (task == nullptr) {
        idle_.push_back(&slot);
        scheduler_.suspend();
        continue;
      }
      ++live_;
      task->started = now_ticks();
      task->status = search(slot, *task);
      task->finished = now_ticks();
      --live_;
      const bool lost = task->status.code() == StatusCode::unavailable;
      feed_->done(*task);
      // A lost source fails at once: the poller gets its turn to say so before the next task.
      if (lost) scheduler_.yield();
    }
  }

  static Status search(Slot& slot, SearchTask& task) {
    task.found = 0;
    task.counts = {};
    task.coverage = 1;
    if (task.started > task.deadline) {
      return {StatusCode::deadline_exceeded, "the deadline passed before the search began"};
    }
    return slot.searcher->search(task);
  }

  coroutines::Scheduler scheduler_;
  const transport::DeviceReader reader_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> idle_;
  TaskFeed* feed_ = nullptr;
  SearchTask* waiting_ = nullptr;  ///< taken from the feed for a slot that was just woken
  std::uint32_t live_ = 0;
  bool stopping_ = false;
  std::exception_ptr failure_;
};

}  // namespace farvec::search
