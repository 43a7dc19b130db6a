// Shows the progress of long work, and lets a caller end the work before it is done.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "base/error.h"

namespace farvec {

/// Long work calls it from time to time, from any of its threads; true ends the work soon with
/// WorkInterrupted. When it is empty, nothing ends the work.
using Interruption = std::function<bool()>;

/// Returns what the Interruption says, or false when it is empty.
inline bool asked_to_end(const Interruption& interrupted) {
  return interrupted && interrupted();
}

/// Work throws it when its Interruption has ended it. It is not a failure of the work.
class WorkInterrupted : public Error {
 public:
  WorkInterrupted() : Error("interrupted before it was done") {}
};

/// Shows one line on a terminal, elsewhere one line for every tenth of the work, on stderr, with
/// the time left. Work that takes less than a second has no line. advance() may be called from any
/// thread; most calls only add to a counter. The destructor ends the line with the total time.
class Progress {
 public:
  Progress(std::string label, std::uint64_t total, bool quiet = false,
           Interruption interrupted = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Throws WorkInterrupted.
  void advance(std::uint64_t amount);
  /// Takes the line off a terminal, before something else is printed there.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  void print(std::uint64_t done, bool last);

  const std::string label_;
  const std::uint64_t total_;
  const bool quiet_;
  const Interruption interrupted_;
  const bool terminal_;
  const Clock::time_point start_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::int64_t> next_print_ns_;
  std::mutex mutex_;
};

/// Says how a long loop over rows runs: on how many threads (counted like resolve_threads()), and
/// with which progress line, if any.
struct RowWork {
  RowWork(unsigned workers, Progress* counter = nullptr) : threads(workers), progress(counter) {}

  /// Counts rows as done; from any thread of the loop. Throws WorkInterrupted.
  void done(std::uint64_t rows) const {
    if (progress != nullptr) progress->advance(rows);
  }

  unsigned threads;
  Progress* progress;  ///< borrowed
};

}  // namespace farvec
