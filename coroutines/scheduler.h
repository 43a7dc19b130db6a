// Cooperative fibers on one thread, and what they wait on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/status.h"

namespace farvec::coroutines {

class Fiber;

struct SchedulerOptions {
  std::size_t max_fibers = 64;
  std::size_t stack_bytes = 64 * 1024;  ///< without the guard page below it
};

/// Runs fibers on the thread that calls run(). Nothing here is thread-safe, and a fiber never
/// leaves its thread. Stacks are pooled: spawning after warm-up allocates nothing but what the
/// entry function itself allocates.
class Scheduler {
 public:
  explicit Scheduler(SchedulerOptions options = {});
  ~Scheduler();  ///< CHECKs that no fiber is left
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Adds a fiber to the back of the ready queue. resource_exhausted beyond max_fibers. An
  /// exception that leaves `entry` is logged and ends the fiber.
  Status spawn(std::function<void()> entry);

  /// Called between fibers whenever no fiber is ready, and at least once per `poll_interval`
  /// switches: polls endpoints, wakes fibers. Returns true when it did something.
  void set_poller(std::function<bool()> poller);

  /// Runs until no fiber is left.
  void run();
  /// Runs what is ready, polls once, and returns: for loops that also serve a queue.
  bool run_once();

  // From inside a fiber:
  static Scheduler& current();
  void yield();                       ///< to the back of the ready queue
  void suspend();                     ///< until wake(); wakes are not counted
  bool suspend_until(Ticks deadline); ///< false when the deadline came first
  Fiber* running();
  // From anywhere on this thread:
  void wake(Fiber* fiber);

  std::size_t live_fibers() const;
};

/// Counts operations in flight for one fiber. add() before posting, done() from the poller,
/// wait() suspends until all are done or the deadline passes. After a deadline the late
/// operations still call done(): the group must outlive them (pending() == 0).
class WaitGroup;

}  // namespace farvec::coroutines
