#include "collection/build/build_watch.h"

#include <algorithm>
#include <thread>

#include "base/progress.h"

namespace farvec::collection {
namespace {
/// A thread that waits asks this often whether it is to end.
constexpr auto kStopLook = std::chrono::milliseconds(10);
/// The longest wait for one piece, however small the bound is.
constexpr double kMostWaitSeconds = 3600;
}  // namespace

const char* to_string(BuildPhase phase) {
  switch (phase) {
    case BuildPhase::none:
      break;
    case BuildPhase::reading:
      return "reading";
    case BuildPhase::linking:
      return "linking";
    case BuildPhase::writing:
      return "writing";
    case BuildPhase::loading:
      return "loading";
  }
  return "";
}

BuildWatch::BuildWatch(const std::atomic<bool>& stop, double most_bytes_per_s, const Rest& rest)
    : stop_(stop), most_bytes_per_s_(most_bytes_per_s), rest_(rest) {}

void BuildWatch::begin(std::uint64_t segments, std::uint64_t rows) {
  const std::lock_guard lock(mutex_);
  progress_ = {BuildPhase::none, segments, rows, 0, progress_.bytes};
}

void BuildWatch::enter(BuildPhase phase) {
  const std::lock_guard lock(mutex_);
  progress_.phase = phase;
}

void BuildWatch::linked(std::uint64_t rows) {
  const std::lock_guard lock(mutex_);
  progress_.linked = std::min(progress_.linked + rows, progress_.rows);
}

BuildWatch::Clock::time_point BuildWatch::turn_behind(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  progress_.bytes += bytes;
  if (most_bytes_per_s_ <= 0) return {};
  const std::chrono::duration<double> time(
      std::min(static_cast<double>(bytes) / most_bytes_per_s_, kMostWaitSeconds));
  next_ = std::max(next_, Clock::now()) + std::chrono::duration_cast<Clock::duration>(time);
  return next_;
}

void BuildWatch::moved(std::uint64_t bytes) {
  const Clock::time_point turn = turn_behind(bytes);
  for (;;) {
    if (interrupted()) throw WorkInterrupted();
    const Clock::time_point now = Clock::now();
    if (now >= turn) return;
    std::this_thread::sleep_for(std::min<Clock::duration>(turn - now, kStopLook));
  }
}

void BuildWatch::wait_for_end_of_rest() const {
  while (rest_.lasts() && !stop_.load(std::memory_order_relaxed)) {
    std::this_thread::sleep_for(kStopLook);
  }
}

BuildProgress BuildWatch::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

}  // namespace farvec::collection
