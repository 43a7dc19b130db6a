// Shows how long a sweep takes, before it begins and while it goes on.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace farvec::measure {

/// Holds the seconds of every cell, forecast from short runs of some of them.
struct SweepForecast {
  std::vector<double> cell_seconds;

  double sum_from(std::size_t cell) const;
};

/// Returns text like "40 s", "12 min" or "3.5 h".
std::string describe_seconds(double seconds);

/// Shows the progress on stderr: one line on a terminal, a line every ten seconds in a log.
class SweepProgress {
 public:
  explicit SweepProgress(SweepForecast forecast, bool quiet = false);

  /// Shows that `done` cells are done. The time left is the forecast, corrected by how well it has
  /// held until now.
  void show(std::size_t done);
  /// Takes the line off a terminal, before something else is printed.
  void clear() const;

 private:
  using Clock = std::chrono::steady_clock;

  const SweepForecast forecast_;
  const bool quiet_;
  const bool terminal_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_ + std::chrono::seconds(10);  ///< time of the next line of a log
};

}  // namespace farvec::measure
