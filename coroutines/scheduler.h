// A Scheduler runs cooperative fibers on one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/status.h"
#include "coroutines/fiber.h"
#include "coroutines/stack_pool.h"

namespace farvec::coroutines {

inline constexpr Ticks kNoDeadline = std::numeric_limits<Ticks>::max();

struct SchedulerOptions {
  std::size_t max_fibers = 64;
  std::size_t stack_bytes = kStackBytes;
  std::uint32_t poll_interval = 32;  ///< the most switches between two calls of the poller
};

/// Runs fibers on the thread that calls run(). Nothing here is thread-safe, and a fiber never
/// leaves its thread. Fibers run in the order in which they become ready. All stacks and queues are
/// allocated by the constructor: spawning allocates nothing but what copying `entry` allocates, and
/// a switch allocates nothing.
///
/// A fiber switches straight to the next ready fiber: one jump. It goes back to run(), which wakes
/// expired fibers and polls, only every `poll_interval` switches or when no fiber is ready.
///
/// Exceptions work inside a fiber as they do elsewhere; a fiber may suspend inside a catch block.
class Scheduler {
 public:
  explicit Scheduler(SchedulerOptions options = {});
  ~Scheduler();  ///< CHECKs that no fiber is left
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Adds a fiber to the back of the ready queue. resource_exhausted beyond max_fibers. An
  /// exception that leaves `entry` is logged and ends the fiber.
  Status spawn(std::function<void()> entry);

  /// Called on the thread's own stack between fibers, whenever no fiber is ready and at least once
  /// per `poll_interval` switches: polls endpoints, wakes fibers, spawns. Returns true when it did
  /// something; must not throw.
  void set_poller(std::function<bool()> poller) { poller_ = std::move(poller); }

  /// Runs until no fiber is left. CHECKs against a deadlock that it can see: every fiber is
  /// suspended without a deadline, and there is no poller.
  void run();

  /// Runs up to `poll_interval` ready fibers, wakes expired ones, polls once, and returns whether
  /// any of this did something: for loops that also serve a queue.
  bool run_once();

  /// Returns the scheduler of the fiber that runs on this thread; CHECKs that there is one.
  static Scheduler& current();

  // These are called from inside a fiber only:

  /// Moves the fiber to the back of the ready queue.
  void yield();

  /// Suspends until wake(). Returns at once when a wake() has come since the last suspension. Wakes
  /// are not counted, and one that was meant for the slot's former fiber may come late: test in a
  /// loop whether what you wait for has happened.
  void suspend();

  /// Like suspend(), but returns false when `deadline` has come first. Expired fibers are woken in
  /// order of their deadlines, at the next poll.
  bool suspend_until(Ticks deadline);

  /// Says whether any fiber is ready to run.
  bool any_ready() const { return ready_head_ != nullptr; }

  /// Returns the fiber that runs; nullptr outside fibers.
  Fiber* running() const { return running_ == &main_ ? nullptr : running_; }

  // These are called from anywhere on this thread:

  /// Makes a suspended fiber ready. If the fiber is not suspended, its next suspend() returns at
  /// once.
  void wake(Fiber* fiber);

  std::size_t live_fibers() const { return live_; }
  std::size_t max_fibers() const { return options_.max_fibers; }

 private:
  static void fiber_main(boost::context::detail::transfer_t from);
  void run_entry(Fiber& fiber);
  void retire(Fiber& fiber);
  void push_ready(Fiber& fiber);
  Fiber& next_fiber();
  void switch_to(Fiber& next);
  Scheduler* enter_thread();
  bool run_round();
  bool wake_expired();

  SchedulerOptions options_;
  StackPool stacks_;
  std::unique_ptr<Fiber[]> fibers_;
  Fiber main_;  ///< the thread's own stack
  Fiber* running_ = &main_;
  Fiber* ready_head_ = nullptr;
  Fiber* ready_tail_ = nullptr;
  Fiber* unused_ = nullptr;
  std::uint32_t switches_left_ = 0;        ///< switches until the next poll
  Ticks earliest_deadline_ = kNoDeadline;  ///< no suspended fiber has an earlier one
  std::size_t live_ = 0;
  Fiber::ExceptionState* thread_exceptions_ = nullptr;
  std::vector<Fiber*> expired_;  ///< scratch for wake_expired(), max_fibers long
  std::function<bool()> poller_;
};

// Inline, because the switch is the hot path, and a return from a function that another fiber has
// entered is always mispredicted.

inline void Scheduler::push_ready(Fiber& fiber) {
  fiber.state_ = Fiber::State::ready;
  fiber.next_ = nullptr;
  if (ready_head_ == nullptr) {
    ready_head_ = &fiber;
  } else {
    ready_tail_->next_ = &fiber;
  }
  ready_tail_ = &fiber;
}

inline Fiber& Scheduler::next_fiber() {
  if (ready_head_ == nullptr || switches_left_ == 0) return main_;
  --switches_left_;
  Fiber& fiber = *ready_head_;
  ready_head_ = fiber.next_;
  return fiber;
}

inline void Scheduler::switch_to(Fiber& next) {
  Fiber& self = *running_;
  running_ = &next;
  next.state_ = Fiber::State::running;
  if (&next == &self) return;
  self.exceptions_ = std::exchange(*thread_exceptions_, next.exceptions_);
  sanitizer::leave(self.stack_state_, next.stack_state_);
  const boost::context::detail::transfer_t from =
      boost::context::detail::jump_fcontext(next.context_, &self);
  auto& previous = *static_cast<Fiber*>(from.data);
  previous.context_ = from.fctx;
  sanitizer::arrive(self.stack_state_, previous.stack_state_);
}

inline void Scheduler::yield() {
  push_ready(*running_);
  switch_to(next_fiber());
}

inline void Scheduler::suspend() {
  Fiber& self = *running_;
  FARVEC_CHECK(&self != &main_, "only a fiber can suspend");
  if (!self.woken_) {
    self.state_ = Fiber::State::suspended;
    switch_to(next_fiber());
  }
  self.woken_ = false;
}

inline bool Scheduler::suspend_until(Ticks deadline) {
  Fiber& self = *running_;
  self.deadline_ = deadline;
  self.timed_out_ = false;
  earliest_deadline_ = std::min(earliest_deadline_, deadline);
  suspend();
  self.deadline_ = kNoDeadline;
  return !self.timed_out_;
}

inline void Scheduler::wake(Fiber* fiber) {
  if (fiber->woken_) return;
  fiber->woken_ = true;
  if (fiber->state_ == Fiber::State::suspended) push_ready(*fiber);
}

}  // namespace farvec::coroutines
