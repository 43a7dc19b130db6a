// A BuildWatch tells a build of a segment how fast it may work and when it is to end, and is told
// how far the build is.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "collection/memtable/rest.h"

namespace farvec::collection {

/// The phase of a merge; `none` while none is running.
enum class BuildPhase : std::uint8_t { none, reading, linking, writing, loading };
/// Returns "reading", "linking", "writing" or "loading"; empty for none.
const char* to_string(BuildPhase phase);

struct BuildProgress {
  BuildPhase phase = BuildPhase::none;
  std::uint64_t segments = 0;  ///< segments that are merged into one
  std::uint64_t rows = 0;      ///< rows of the merged segment
  std::uint64_t linked = 0;    ///< rows that were repaired or inserted
  std::uint64_t bytes = 0;     ///< bytes that all builds so far have read and written
};

/// One build at a time tells it how far it is. Its threads may call everything, and so may other
/// threads.
class BuildWatch {
 public:
  /// `stop` and `rest` must outlive it. `most_bytes_per_s` bounds what builds read and write; 0:
  /// there is no bound.
  BuildWatch(const std::atomic<bool>& stop, double most_bytes_per_s, const Rest& rest = kNoRest);

  /// Returns true when the build is to end soon. Waits while the rest lasts.
  bool interrupted() const {
    if (rest_.lasts()) wait_for_end_of_rest();
    return stop_.load(std::memory_order_relaxed);
  }

  void begin(std::uint64_t segments, std::uint64_t rows);
  void enter(BuildPhase phase);
  void linked(std::uint64_t rows);
  /// To be called after `bytes` bytes were read or written: waits for as long as the bound asks.
  /// Throws WorkInterrupted, also out of the wait.
  void moved(std::uint64_t bytes);
  /// No build is running any more.
  void end() { begin(0, 0); }

  BuildProgress progress() const;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point turn_behind(std::uint64_t bytes);
  void wait_for_end_of_rest() const;

  const std::atomic<bool>& stop_;  ///< relaxed: it saves work and orders nothing
  const double most_bytes_per_s_;
  const Rest& rest_;
  mutable std::mutex mutex_;
  BuildProgress progress_;
  Clock::time_point next_;  ///< no more bytes may move before it
};

/// While this object lives, `watch` tells of this build.
class WatchedBuild {
 public:
  WatchedBuild(BuildWatch& watch, std::uint64_t segments, std::uint64_t rows) : watch_(watch) {
    watch.begin(segments, rows);
  }
  ~WatchedBuild() { watch_.end(); }
  WatchedBuild(const WatchedBuild&) = delete;
  WatchedBuild& operator=(const WatchedBuild&) = delete;

 private:
  BuildWatch& watch_;
};

}  // namespace farvec::collection
