#include "search/core/core_loop.h"

#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "search/core/search_within.h"

namespace farvec::search {

CoreLoop::CoreLoop(const CoreFibers& fibers, const PartFactory& make_part)
    : scheduler_(
          {.max_fibers = fibers.slots + fibers.helpers, .poll_interval = fibers.poll_interval}),
      part_(make_part(scheduler_)) {
  FARVEC_CHECK(part_->slots() == fibers.slots, "{} slots for {} fibers", part_->slots(),
               fibers.slots);
  idle_.reserve(fibers.slots);
  scheduler_.set_poller([this] { return poll(); });
}

void CoreLoop::run(TaskFeed& feed) {
  feed_ = &feed;
  stopping_ = false;
  failure_ = nullptr;
  waiting_ = nullptr;  // may be left from a run that failed: the owner of its feed has ended it
  spawned_ = 0;
  spawn_fiber();
  while (!stopping_) dispatch();
  for (coroutines::Fiber* fiber : idle_) scheduler_.wake(fiber);
  scheduler_.run();
  idle_.clear();
  if (failure_) std::rethrow_exception(failure_);
}

CoreStatistics CoreLoop::statistics() const {
  CoreStatistics result = part_->statistics();
  result.live_searches = live_;
  return result;
}

/// Spawns the fiber of the next slot. Each fiber that has a task makes the next one, so that a run
/// of one task does not pay for all slots. Where helpers of the part have taken all fibers, a later
/// task makes it.
void CoreLoop::spawn_fiber() {
  const std::uint32_t slot = spawned_;
  const Status status = scheduler_.spawn([this, slot] {
    try {
      serve(slot);
    } catch (...) {
      fail();
    }
  });
  if (status.ok()) ++spawned_;
}

/// One turn of the core's loop.
void CoreLoop::dispatch() {
  try {
    if (!idle_.empty()) offer_task();
    scheduler_.run_once();
    if (stopping_ || live_ > 0 || waiting_ != nullptr || idle_.size() < spawned_) return;
    if (feed_->finished()) {
      stopping_ = true;
    } else if (!part_->busy()) {
      feed_->idle();
    }
  } catch (...) {
    fail();
  }
}

void CoreLoop::offer_task() {
  // A turn may end before the fiber that was woken last has run: its task still waits.
  if (waiting_ != nullptr) return;
  waiting_ = feed_->next();
  if (waiting_ == nullptr) return;
  scheduler_.wake(idle_.back());
  idle_.pop_back();
}

void CoreLoop::fail() {
  failure_ = std::current_exception();
  stopping_ = true;
}

/// A poller must not throw: an error that the part does not survive ends the run.
bool CoreLoop::poll() {
  try {
    return part_->poll();
  } catch (...) {
    fail();
    return true;
  }
}

SearchTask* CoreLoop::take_task() {
  if (waiting_ != nullptr) return std::exchange(waiting_, nullptr);
  return feed_->next();
}

void CoreLoop::run_task(std::uint32_t slot, SearchTask& task) {
  task.clock.started = now_ticks();
  if (task.clock.started > task.request.deadline) {
    task.answer.found = 0;
    task.answer.counts = {};
    task.answer.coverage = 1;
    task.answer.status = {StatusCode::deadline_exceeded,
                          "the deadline passed before the search began"};
  } else if (task.request.condition != nullptr && !part_->takes_conditions()) {
    task.answer.found = 0;
    task.answer.status = {StatusCode::invalid_argument,
                          "the rows of the index have no attributes, and the search a condition"};
  } else if (task.request.has_bound()) {
    task.answer.status = search_within(*part_, slot, task.request, task.answer);
  } else {
    task.answer.status = part_->search(slot, task.request, task.answer);
  }
  task.clock.finished = now_ticks();
}

/// The body of a slot's fiber: search after search until the core stops.
void CoreLoop::serve(std::uint32_t slot) {
  while (!stopping_) {
    SearchTask* task = take_task();
    if (task == nullptr) {
      idle_.push_back(scheduler_.running());
      scheduler_.suspend();
      continue;
    }
    if (spawned_ < part_->slots()) spawn_fiber();
    ++live_;
    run_task(slot, *task);
    --live_;
    const bool lost = task->answer.status.code() == StatusCode::unavailable;
    feed_->done(*task);
    // A lost source fails at once: let the poller report it before the next task.
    if (lost) scheduler_.yield();
  }
}

}  // namespace farvec::search
