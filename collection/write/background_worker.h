// A thread of a collection's background, and what those who wait for it need to know.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

namespace farvec::collection {

/// Attempts at its jobs, by number. Who waits asks for one that begins later, as one that is under
/// way may have met what has gone by now. All but the thread is of the collection's mutex.
struct BackgroundWorker {
  std::uint64_t attempts = 0;
  std::uint64_t failed_attempt = 0;  ///< the last that failed
  std::uint64_t asked_attempt = 0;   ///< the last that somebody waits for
  /// After a failure, for instance of a full disk: before it there is no attempt that nobody asks
  /// for.
  std::chrono::steady_clock::time_point retry_from;
  std::string failure;  ///< of the last attempt; empty: it succeeded
  std::thread thread;

  bool may_try() const {
    return asked_attempt > failed_attempt || std::chrono::steady_clock::now() >= retry_from;
  }
  std::uint64_t ask() { return asked_attempt = attempts + 1; }
};

}  // namespace farvec::collection
