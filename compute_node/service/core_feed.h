// The queue in front of one core.
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

/// First in, first out; many producers, one core. A task that expired or was cancelled while it
/// waited, or that could not end before its deadline any more, ends here and never reaches the
/// core.
class CoreFeed final : public search::TaskFeed {
 public:
  CoreFeed(AdmissionBudget& budget, Replier& replier) : budget_(budget), replier_(replier) {}

  /// Adds a task that holds a place in the budget; ends it at once when the feed is closed. Any
  /// thread.
  void push(QueuedTask& task);
  /// Ends every waiting task with `reason`, and every later one; the core finishes what it runs.
  void close(Status reason);
  /// Ends waiting tasks whose deadline is not after `now`. Any thread.
  void expire(Ticks now);

  /// After the core has returned for good: ends tasks that it took and never finished.
  void end_abandoned(Status reason);

  /// Waiting and running tasks; a hint for balancing.
  std::uint32_t load() const;
  std::uint32_t running() const;
  /// The work of all waiting and running tasks. Any thread.
  WorkUnits work() const { return work_.load(std::memory_order_relaxed); }
  /// How fast the core serves.
  const WorkRate& rate() const { return rate_; }
  /// No task waits or runs. Sees every task whose push() has returned.
  bool empty() const;
  /// The core has begun to ask for tasks: it can search. Any thread.
  bool asked() const { return asked_.load(std::memory_order_acquire); }

  // TaskFeed, from the core's thread:
  search::SearchTask* next() override;
  bool finished() override;
  void done(search::SearchTask& task) override;
  void idle() override;

 private:
  QueuedTask* pop();
  void link_live(QueuedTask& task);
  void unlink_live(QueuedTask& task);
  /// Why the task is not to run; ok when it is.
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
  std::atomic<WorkUnits> work_{0};  ///< relaxed: only estimates look at it
  WorkUnits running_work_ = 0;      ///< of it, what the core has; the core's thread only
  WorkRate rate_;
};

}  // namespace farvec::compute_node
