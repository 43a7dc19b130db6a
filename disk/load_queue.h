// A LoadQueue does reads of a disk that fibers wait for, that several fibers share, or that no
// fiber waits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/status.h"
#include "coroutines/scheduler.h"
#include "disk/disk_engine.h"

namespace farvec::disk {

class Load;

/// Is called about loads on the thread's own stack, from LoadQueue::poll() and close().
class LoadListener {
 public:
  virtual ~LoadListener() = default;
  /// The load's outcome is known; called before the fibers that wait are woken. It may start loads.
  virtual void load_ended(Load& load) = 0;
  /// Says that the destination came back after a deadline.
  virtual void load_returned(Load& load) = 0;
};

/// A Load is one read. A frame of a pool has one load, a fiber as many as it reads at a time. It
/// can be used again any number of times. It must not be moved while destination_out() is true or a
/// fiber waits.
class Load {
 public:
  Load() = default;
  ~Load() { FARVEC_CHECK(!destination_out() && waiters_ == nullptr, "a load is still in use"); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  /// What to read; set it while the load is not going. The queue sets the token.
  DiskRequest read;
  /// Called at every end of this load, besides the fibers that wait; nullptr: none. It must outlive
  /// the load or the queue.
  LoadListener* listener = nullptr;

  /// Says whether it has been started and its outcome is not known yet.
  bool going() const { return going_; }
  /// Says whether the destination belongs to the disk: while the load is going, and after its
  /// deadline until the kernel has given the read back.
  bool destination_out() const { return destination_out_; }
  /// Says how the load ended the last time.
  Status status() const { return status_; }
  /// Returns the bytes that arrived; when the status is ok, all that were asked for and are in the
  /// file.
  std::uint32_t bytes() const { return bytes_; }

 private:
  friend class LoadQueue;

  /// It is on the stack of the fiber that waits.
  struct Waiter {
    coroutines::Fiber* fiber = nullptr;
    Waiter* next = nullptr;
    Status status = {};
    bool waiting = true;
  };
  void remember(Waiter& waiter);
  void forget(const Waiter& waiter);

  Waiter* waiters_ = nullptr;
  Load* next_ = nullptr;  ///< next load that waits for room
  Status status_;
  std::uint32_t bytes_ = 0;
  bool going_ = false;
  bool destination_out_ = false;
};

struct LoadQueueOptions {
  std::uint32_t max_waiting = 1024;  ///< loads that wait for room in the engine
  /// The number of loads of all fibers that start() collects before it submits them; poll() submits
  /// the rest. More than 1 saves system calls where every fiber starts one load at a time.
  std::uint32_t batch = 1;
};

/// Has a core's loads, for the fibers of its scheduler.
class LoadQueue {
 public:
  LoadQueue(std::unique_ptr<DiskEngine> engine, coroutines::Scheduler& scheduler,
            LoadQueueOptions options = {});
  ~LoadQueue();  ///< closes
  LoadQueue(const LoadQueue&) = delete;
  LoadQueue& operator=(const LoadQueue&) = delete;

  /// Starts all loads, or none: resource_exhausted when more than room() wait already,
  /// invalid_argument like DiskEngine::check(), unavailable after close(). Never suspends. Their
  /// destinations are out from then on, and each load ends within its read's deadline. Loads are
  /// served in the order of their starts.
  Status start(std::span<Load* const> loads);

  /// Call it inside a fiber. Suspends until the load has ended, and returns its status.
  /// deadline_exceeded when the fiber's own deadline comes first; the load then goes on. Any number
  /// of fibers may wait for one load. Does not suspend when the load is not going.
  Status wait(Load& load, Ticks deadline);

  /// The scheduler's poller: submits, ends loads, wakes fibers. True when there was something to
  /// do.
  bool poll();

  /// Returns the number of loads that start() takes now.
  std::size_t room() const {
    const std::size_t most = std::size_t{engine_->room()} + options_.max_waiting;
    return most > waiting_ ? most - waiting_ : 0;
  }
  std::uint32_t outstanding() const { return engine_->outstanding(); }
  std::uint32_t waiting() const { return waiting_; }
  DiskEngine& engine() { return *engine_; }

  /// Ends every load with `unavailable`, and gives all destinations back (DiskEngine::close()).
  void close();

 private:
  void append(Load& load);
  std::uint32_t submit_waiting();
  bool end_expired();
  void take(const DiskCompletion& completion);
  void tell(Load& load, StatusCode code, std::uint32_t bytes);
  void end(Load& load, Status status, std::uint32_t bytes);

  std::unique_ptr<DiskEngine> engine_;
  coroutines::Scheduler& scheduler_;
  const LoadQueueOptions options_;
  Load* first_ = nullptr;  ///< first load that waits for room
  Load* last_ = nullptr;
  std::uint32_t waiting_ = 0;
  Ticks earliest_deadline_;            ///< no load that waits for room has an earlier one
  std::vector<Load*> posted_;          ///< indexed by token; nullptr where no destination is out
  std::vector<std::uint32_t> unused_;  ///< tokens
  std::vector<DiskRequest> requests_;  ///< scratch for submit_waiting()
};

// Inline, because it suspends on the hot path (coroutines/scheduler.h).
inline Status LoadQueue::wait(Load& load, Ticks deadline) {
  if (!load.going_) return load.status_;
  Load::Waiter waiter;
  waiter.fiber = scheduler_.running();
  FARVEC_CHECK(waiter.fiber != nullptr, "only a fiber can wait");
  load.remember(waiter);
  bool in_time = true;
  while (waiter.waiting && in_time) in_time = scheduler_.suspend_until(deadline);
  if (!waiter.waiting) return waiter.status;
  load.forget(waiter);
  return {StatusCode::deadline_exceeded, "the deadline passed before the disk had answered"};
}

}  // namespace farvec::disk
