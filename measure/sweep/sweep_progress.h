// How long a sweep takes: said before it begins, and while it goes on.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace farvec::measure {

class SweepCell;

/// Seconds of every cell, as short runs of some of them forecast.
struct SweepForecast {
  std::vector<double> cell_seconds;

  double sum_from(std::size_t cell) const;
};

/// Seconds that a cell takes when one of its searches takes `search_seconds`.
double cell_seconds(const SweepCell& cell, double search_seconds, std::uint32_t passes,
                    double pass_ms);
/// How much one of its searches does: what it grows with, candidates or clusters.
double search_work(const SweepCell& cell);

/// "40 s", "12 min", "3.5 h".
std::string describe_seconds(double seconds);

/// One line on a terminal, a line every ten seconds in a log; on stderr.
class SweepProgress {
 public:
  explicit SweepProgress(SweepForecast forecast, bool quiet = false);

  /// So many cells are done. What is left is told by how the forecast has held until now.
  void show(std::size_t done);
  /// Takes the line off a terminal, before something else is printed.
  void clear() const;

 private:
  using Clock = std::chrono::steady_clock;

  const SweepForecast forecast_;
  const bool quiet_;
  const bool terminal_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_ + std::chrono::seconds(10);  ///< line of a log
};

}  // namespace farvec::measure
