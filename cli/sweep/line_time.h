// How long a core takes for a cache line that is in no cache: what bounds the rate of a search.
#pragma once

#include <cstdint>
#include <map>

namespace farvec::cli {

/// Given, or measured as cli/bench/memory_load.h does it: random lines of memory in huge pages,
/// eight times the third-level cache.
class LineTime {
 public:
  /// `given_ns` is that of each core, alone or with others; 0: measure.
  explicit LineTime(double given_ns) : given_ns_(given_ns) {}

  /// Measures for so many threads, unless that is given or was done, and says it on stderr.
  void measure(std::uint32_t threads);
  /// Nanoseconds of one of so many busy cores; 0 when that was not measured or there is no memory
  /// to measure with.
  double ns(std::uint32_t threads) const;
  /// "--line-ns" or "measured".
  const char* source() const { return given_ns_ > 0 ? "--line-ns" : "measured"; }

 private:
  const double given_ns_;
  std::map<std::uint32_t, double> measured_;
};

}  // namespace farvec::cli
