// A fiber waits on a WaitGroup while its operations are in flight.
#pragma once

#include <cstdint>

#include "base/check.h"
#include "base/status.h"
#include "coroutines/scheduler.h"

namespace farvec::coroutines {

/// Counts operations in flight for one fiber at a time: add() before posting, done() from the
/// poller; wait() suspends until all are done or the deadline has passed. After a deadline the late
/// operations still call done(): the group must outlive them, and their buffers belong to them
/// until pending() == 0 (docs/understand/buffers.md). It can be used again any number of times, and
/// allocates nothing.
class WaitGroup {
 public:
  explicit WaitGroup(Scheduler& scheduler) : scheduler_(scheduler) {}
  ~WaitGroup() { FARVEC_CHECK(pending_ == 0, "{} operations are still in flight", pending_); }
  WaitGroup(const WaitGroup&) = delete;
  WaitGroup& operator=(const WaitGroup&) = delete;

  void add(std::uint32_t operations = 1) { pending_ += operations; }

  void done(std::uint32_t operations = 1) {
    FARVEC_CHECK(pending_ >= operations, "done() without add()");
    pending_ -= operations;
    if (pending_ == 0 && waiter_ != nullptr) scheduler_.wake(waiter_);
  }

  /// Call it from inside a fiber. deadline_exceeded when the deadline comes while operations are
  /// pending; call it again to drain them. Otherwise ok: the caller has to know how the operations
  /// ended. Does not suspend when nothing is pending.
  Status wait(Ticks deadline = kNoDeadline);

  std::uint32_t pending() const { return pending_; }

 private:
  Scheduler& scheduler_;
  Fiber* waiter_ = nullptr;
  std::uint32_t pending_ = 0;
};

// Inline, because it suspends on the hot path (scheduler.h).
inline Status WaitGroup::wait(Ticks deadline) {
  waiter_ = scheduler_.running();
  FARVEC_CHECK(waiter_ != nullptr, "only a fiber can wait");
  bool in_time = true;
  while (pending_ > 0 && in_time) in_time = scheduler_.suspend_until(deadline);
  waiter_ = nullptr;
  if (pending_ > 0) return {StatusCode::deadline_exceeded, "reads did not complete in time"};
  return {};
}

}  // namespace farvec::coroutines
