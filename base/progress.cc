#include "base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace farvec {
namespace {

constexpr std::int64_t kTerminalPeriodNs = 200'000'000;
constexpr std::int64_t kShortWorkNs = 1'000'000'000;  ///< shorter work shows nothing
constexpr std::uint64_t kLines = 10;                  ///< when there is no terminal

std::int64_t since_ns(std::chrono::steady_clock::time_point start) {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Progress::Progress(std::string label, std::uint64_t total, bool quiet, Interruption interrupted)
    : label_(std::move(label)),
      total_(std::max<std::uint64_t>(total, 1)),
      quiet_(quiet),
      interrupted_(std::move(interrupted)),
      terminal_(isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      next_print_ns_(kShortWorkNs) {}

Progress::~Progress() {
  if (since_ns(start_) >= kShortWorkNs) print(done_.load(std::memory_order_relaxed), true);
}

void Progress::advance(std::uint64_t amount) {
  if (interrupted_ && interrupted_()) throw WorkInterrupted();
  // relaxed: a display; no other memory is published through these counters.
  const std::uint64_t before = done_.fetch_add(amount, std::memory_order_relaxed);
  const std::uint64_t done = before + amount;
  // Without a terminal, the call that brings the work to the next tenth prints the line.
  if (!terminal_ && before * kLines / total_ == done * kLines / total_) return;
  const std::int64_t elapsed_ns = since_ns(start_);
  std::int64_t due = next_print_ns_.load(std::memory_order_relaxed);
  if (elapsed_ns < due) return;
  if (terminal_ && !next_print_ns_.compare_exchange_strong(due, elapsed_ns + kTerminalPeriodNs,
                                                           std::memory_order_relaxed)) {
    return;
  }
  if (terminal_ || done < total_) print(done, false);
}

void Progress::clear() {
  // relaxed: see advance(). Nothing has been printed before the first line was due.
  if (quiet_ || !terminal_ || next_print_ns_.load(std::memory_order_relaxed) == kShortWorkNs) {
    return;
  }
  std::lock_guard lock(mutex_);
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

void Progress::print(std::uint64_t done, bool last) {
  if (quiet_) return;
  std::lock_guard lock(mutex_);
  const double seconds = static_cast<double>(since_ns(start_)) * 1e-9;
  const double rate = static_cast<double>(done) / std::max(seconds, 1e-9);
  const char* begin = terminal_ ? "\r\033[K" : "";
  const char* end = terminal_ && !last ? "" : "\n";
  if (last) {
    fmt::print(stderr, "{}{}: {} in {:.1f} s ({:.0f}/s){}", begin, label_, done, seconds, rate,
               end);
  } else {
    const double left = static_cast<double>(total_ - std::min(done, total_)) / std::max(rate, 1e-9);
    fmt::print(stderr, "{}{}: {:.0f}% {}/{} {:.0f}/s, {:.0f} s left{}", begin, label_,
               100.0 * static_cast<double>(done) / static_cast<double>(total_), done, total_, rate,
               left, end);
  }
  std::fflush(stderr);
}

}  // namespace farvec
