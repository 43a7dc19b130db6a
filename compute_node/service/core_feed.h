// A CoreFeed is the queue in front of one core.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "compute_node/service/replier.h"
#include "compute_node/service/work_rate.h"

namespace farvec::compute_node {

/// Bounds how many queries wait in all feeds together. Thread-safe.
class AdmissionBudget {
 public:
  explicit AdmissionBudget(std::uint32_t limit) : limit_(limit) {}
  bool try_take(std::uint32_t count);
  void give(std::uint32_t count);
  std::uint32_t taken() const;

 private:
  const std::uint32_t limit_;
  std::atomic<std::uint32_t> taken_{0};
};

/// A CoreFeed is a queue, first in, first out, with many producers and one core. A task ends here,
/// and never reaches the core, when it expired or was cancelled while it waited, or when it could
/// not end before its deadline any more.
class CoreFeed final : public search::TaskFeed {
 public:
  CoreFeed(AdmissionBudget& budget, Replier& replier) : budget_(budget), replier_(replier) {}

  /// Adds a task that holds a place in the budget, and ends it at once when the feed is closed. It
  /// may be called from any thread.
  void push(QueuedTask& task);
  /// Ends every waiting task with `reason`, and every later one; the core finishes those that it
  /// runs.
  void close(Status reason);
  /// Ends waiting tasks whose deadline is not after `now`. It may be called from any thread.
  void expire(Ticks now);

  /// To be called after the core has returned for good: ends tasks that it took and never finished.
  void end_abandoned(Status reason);

  /// Returns the number of waiting and running tasks, which is a hint for balancing.
  std::uint32_t load() const;
  std::uint32_t running() const;
  /// Returns the work of all waiting and running tasks. It may be called from any thread.
  WorkUnits work() const { return work_.load(std::memory_order_relaxed); }
  /// Says how fast the core serves.
  const WorkRate& rate() const { return rate_; }
  /// Returns true when no task waits or runs. It sees every task whose push() has returned.
  bool empty() const;
  /// Returns true when the core has begun to ask for tasks, so that it can search. It may be called
  /// from any thread.
  bool asked() const { return asked_.load(std::memory_order_acquire); }

  // These are TaskFeed's, for the core's thread:
  search::SearchTask* next() override;
  bool finished() override;
  void done(search::SearchTask& task) override;
  void idle() override;

 private:
  QueuedTask* pop();
  void link_live(QueuedTask& task);
  void unlink_live(QueuedTask& task);
  /// Returns why the task is not to run; ok when it is.
  Status check(const QueuedTask& task, Ticks now) const;
  void end(QueuedTask& task, Status status);
  void end_expired(QueuedTask& task, Status status);
  void complete(QueuedTask& task);

  AdmissionBudget& budget_;
  Replier& replier_;
  mutable std::mutex mutex_;
  std::condition_variable pushed_;
  QueuedTask* first_ = nullptr;
  QueuedTask* last_ = nullptr;
  QueuedTask* live_ = nullptr;  ///< taken and not done; the core's thread only
  Status reason_;               ///< set by close()
  bool sleeping_ = false;
  std::atomic<bool> closed_{false};
  std::atomic<bool> asked_{false};         ///< release by the core: what it made before is seen
  std::atomic<std::uint32_t> waiting_{0};  ///< written under the lock, read without
  std::atomic<std::uint32_t> running_{0};
  std::atomic<WorkUnits> work_{0};  ///< relaxed, because only estimates read it
  WorkUnits running_work_ = 0;      ///< the part of work_ that the core has; the core's thread only
  WorkRate rate_;
};

}  // namespace farvec::compute_node
