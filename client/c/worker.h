// A Worker makes the calls of one connection, one after the other, on a thread of its own.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>

#include "base/progress.h"

namespace farvec::c {

class Session;

using Clock = std::chrono::steady_clock;

/// Says how long a caller waits, and what ends its wait.
struct Wait {
  std::chrono::milliseconds deadline{10'000};
  int (*interrupted)(void* context) = nullptr;  ///< called on the caller's thread
  void* context = nullptr;
};

/// Is what work on the worker's thread knows of its caller.
struct Turn {
  Clock::time_point until;             ///< the caller waits no longer
  const std::atomic<bool>& cancelled;  ///< becomes true when no caller waits any more

  /// Returns the time that is left, at least a millisecond.
  std::chrono::milliseconds left() const;
  Interruption interruption() const;
};

/// Work may not touch what its caller owns: the caller may be gone.
struct Work {
  std::function<void(std::unique_ptr<Session>& session, const Turn& turn)> make;
  /// Takes back what `make` did, on the worker's thread, where no caller took its result. It may be
  /// empty.
  std::function<void()> undo = {};
};

/// Any thread may call everything. The thread blocks all signals, and threads that it makes inherit
/// that. It owns the session, so that gRPC is called from there alone.
class Worker {
 public:
  static constexpr std::size_t kMostWaiting = 64;  ///< calls that wait for their turn

  /// Throws std::system_error where there can be no further thread.
  static std::shared_ptr<Worker> start();

  /// Hands work over, and waits until it is made. Throws what `make` throws, and StatusError when
  /// the wait ends before that (cancelled, deadline_exceeded), when too many calls wait
  /// (resource_exhausted), after close(), and in a child of the process that made the connection
  /// (failed_precondition).
  void run(const Wait& wait, Work work);

  /// Throws StatusError (failed_precondition) in a child of the process that made the connection.
  void require_this_process() const;

  /// Ends the call under way and those that wait, then the thread. Waits for the thread, but no
  /// longer than `patience`: it ends by itself. Does nothing in a child of the process.
  void close(std::chrono::milliseconds patience);

 private:
  struct Job;

  Worker();
  void serve();
  void make(Job& job, std::unique_ptr<Session>& session);
  void enqueue(const std::shared_ptr<Job>& job);
  void await(const std::shared_ptr<Job>& job, const Wait& wait);
  void leave(const std::shared_ptr<Job>& job);

  const pid_t process_;
  std::atomic<bool> cancelled_{false};  ///< relaxed: it says that, and nothing else
  std::mutex mutex_;
  // The rest is guarded by mutex_.
  std::condition_variable come_;  ///< there is a job, or the end
  std::condition_variable gone_;  ///< the thread has ended
  std::deque<std::shared_ptr<Job>> queue_;
  std::shared_ptr<Job> running_;
  bool closing_ = false;
  bool ended_ = false;
};

}  // namespace farvec::c
