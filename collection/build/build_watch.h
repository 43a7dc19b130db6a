// What the making of a segment asks and tells while it runs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace farvec::collection {

/// What a merge is at; `none` while none is under way.
enum class BuildPhase : std::uint8_t { none, reading, linking, writing, loading };
/// "reading", "linking", "writing", "loading"; empty for none.
const char* to_string(BuildPhase phase);

struct BuildProgress {
  BuildPhase phase = BuildPhase::none;
  std::uint64_t segments = 0;  ///< that become one
  std::uint64_t rows = 0;      ///< of the one
  std::uint64_t linked = 0;    ///< of these: repaired or inserted
  std::uint64_t bytes = 0;     ///< read and written, of all builds so far
};

/// One build at a time tells it how far it is; its threads may call everything, and so may others.
class BuildWatch {
 public:
  /// `stop` outlives it. Bytes a second that builds may read and write; 0: as fast as they go.
  BuildWatch(const std::atomic<bool>& stop, double most_bytes_per_s);

  /// The build is to end soon.
  bool interrupted() const { return stop_.load(std::memory_order_relaxed); }

  void begin(std::uint64_t segments, std::uint64_t rows);
  void enter(BuildPhase phase);
  void linked(std::uint64_t rows);
  /// So many bytes were read or written: waits for as long as the bound asks. Throws
  /// WorkInterrupted, also out of the wait.
  void moved(std::uint64_t bytes);
  /// Nothing is under way.
  void end() { begin(0, 0); }

  BuildProgress progress() const;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point turn_behind(std::uint64_t bytes);

  const std::atomic<bool>& stop_;  ///< relaxed: saves work, orders nothing
  const double most_bytes_per_s_;
  mutable std::mutex mutex_;
  BuildProgress progress_;
  Clock::time_point next_;  ///< before it no more bytes may move
};

/// From now on `watch` tells of this build, until this object ends.
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
