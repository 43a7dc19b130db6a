// A CountedWork is a number of operations of one call, with all that the caller wants to know.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/progress.h"
#include "ssd_baseline/paged/cores/change_hands.h"
#include "ssd_baseline/paged/cores/shared_work.h"

namespace farvec::paged {

/// Does operation(hands, i) for every i below a count, begun in this order. The caller waits until
/// finished(): what the operation refers to has to live until then, and no longer.
class CountedWork final : public SharedWork {
 public:
  using Operation = std::function<void(ChangeHands&, std::size_t)>;

  struct Manner {
    /// Is asked between operations, from any thread; when it returns true, no further one begins.
    Interruption interrupted = {};
    /// Is told, from any thread, how many more operations have ended.
    std::function<void(std::uint64_t)> advanced = {};
  };
  CountedWork(std::size_t count, Operation operation, Manner manner)
      : count_(count), operation_(std::move(operation)), manner_(std::move(manner)) {}

  bool has_more() const override;
  void step(ChangeHands& hands) override;

  /// Returns true when no operation runs and no further one begins.
  bool finished() const;
  /// Waits for that, at most so long; returns whether it has come.
  bool wait(std::chrono::milliseconds most) const;
  /// Lets no further operation begin.
  void stop();

  // These are called when it has finished:
  std::uint64_t done() const { return done_; }
  const ChangeCounts& counts() const { return counts_; }
  /// Throws what the first operation that failed has thrown.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::optional<std::size_t> begin();
  void end(ChangeHands& hands, std::exception_ptr error);
  void leave(std::unique_lock<std::mutex>& lock);
  bool finished_locked() const { return active_ == 0 && (stopped_ || next_ == count_); }

  const std::size_t count_;
  const Operation operation_;
  const Manner manner_;
  mutable std::mutex mutex_;
  mutable std::condition_variable finished_;
  std::size_t next_ = 0;
  std::size_t active_ = 0;  ///< operations that run
  bool stopped_ = false;    ///< no further operation begins
  std::uint64_t done_ = 0;
  ChangeCounts counts_;
  std::exception_ptr error_;
};

}  // namespace farvec::paged
