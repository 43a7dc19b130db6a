// A BackgroundWorker is a thread of a collection's background, with the state that calls which wait
// for it need to know.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

namespace farvec::collection {

/// Counts the attempts at its jobs. A call that waits asks for an attempt that begins later, since
/// the one under way may have met a problem that is gone by now. The collection's mutex guards all
/// members but the thread.
struct BackgroundWorker {
  std::uint64_t attempts = 0;
  std::uint64_t failed_attempt = 0;  ///< the last one that failed
  std::uint64_t asked_attempt = 0;   ///< the last one that a call waits for
  /// After a failure, for instance of a full disk, no attempt begins before this time unless a call
  /// asks for one.
  std::chrono::steady_clock::time_point retry_from;
  std::string failure;      ///< why the last attempt failed; empty: it did not
  bool lacks_disk = false;  ///< it failed because a disk is full
  std::thread thread;

  bool may_try() const {
    return asked_attempt > failed_attempt || std::chrono::steady_clock::now() >= retry_from;
  }
  std::uint64_t ask() { return asked_attempt = attempts + 1; }
};

}  // namespace farvec::collection
