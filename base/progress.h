// Progress of long work, and its end before it is done.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "base/error.h"

namespace farvec {

/// Asked by long work from time to time, from any of its threads: true ends it soon with
/// WorkInterrupted. Empty: nobody ends it.
using Interruption = std::function<bool()>;

/// What it says; false when it is empty.
inline bool asked_to_end(const Interruption& interrupted) {
  return interrupted && interrupted();
}

/// What work throws that its Interruption has ended: no failure of it.
class WorkInterrupted : public Error {
 public:
  WorkInterrupted() : Error("interrupted before it was done") {}
};

/// One line on a terminal, elsewhere one for every tenth, on stderr, with the time left; of work
/// that takes less than a second none. advance() may be called from any thread; most calls only add
/// to a counter. The destructor ends the line with the total time.
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

/// How a long loop over rows runs: on how many threads, as in resolve_threads(), and who counts the
/// rows that are done, if anybody does.
struct RowWork {
  RowWork(unsigned workers, Progress* counter = nullptr) : threads(workers), progress(counter) {}

  /// From any thread of the loop. Throws WorkInterrupted.
  void done(std::uint64_t rows) const {
    if (progress != nullptr) progress->advance(rows);
  }

  unsigned threads;
  Progress* progress;  ///< borrowed
};

}  // namespace farvec
