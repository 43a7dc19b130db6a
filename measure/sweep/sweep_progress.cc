#include "measure/sweep/sweep_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>

namespace farvec::measure {

double SweepForecast::sum_from(std::size_t cell) const {
  return std::accumulate(cell_seconds.begin() + static_cast<std::ptrdiff_t>(cell),
                         cell_seconds.end(), 0.0);
}

std::string describe_seconds(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", std::max(seconds, 1.0));
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

SweepProgress::SweepProgress(SweepForecast forecast, bool quiet)
    : forecast_(std::move(forecast)), quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

void SweepProgress::show(std::size_t done) {
  if (quiet_) return;
  const auto now = Clock::now();
  if (!terminal_ && now < next_) return;
  next_ = now + std::chrono::seconds(10);
  const double left = forecast_.sum_from(done);
  const double foretold = forecast_.sum_from(0) - left;
  const double took = std::chrono::duration<double>(now - start_).count();
  const double error = done == 0 || foretold <= 0 ? 1 : took / foretold;
  fmt::print(stderr, "{}{} of {} combinations, about {} left{}", terminal_ ? "\r" : "", done,
             forecast_.cell_seconds.size(), describe_seconds(left * error),
             terminal_ ? "\033[K" : "\n");
  std::fflush(stderr);
}

void SweepProgress::clear() const {
  if (terminal_ && !quiet_) fmt::print(stderr, "\r\033[K");
}

}  // namespace farvec::measure
