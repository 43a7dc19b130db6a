// Says how long a core takes for a random cache line of an index's memory, which bounds the rate of
// a search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "base/progress.h"

namespace farvec::measure {

/// Knows the time for a line. It is given, or measured with line_ns() of
/// measure/bench/memory_load.h: random lines of memory in huge pages, of as many bytes as an index
/// has, and at most of half of default_set_bytes() (eight times the third-level cache on most
/// machines).
class LineTime {
 public:
  /// `given_ns` is the time of each core, alone or with others; 0: measure with `bytes` of memory.
  LineTime(double given_ns, std::size_t bytes, bool quiet = false)
      : given_ns_(given_ns), bytes_(bytes), quiet_(quiet) {}

  /// Measures for `threads` threads, unless the time is given or was measured, and says the result
  /// on stderr unless `quiet`.
  void measure(std::uint32_t threads, const Interruption& interrupted = {});
  /// Returns the nanoseconds for a line of one of `threads` busy cores; 0 when that was not
  /// measured or there is no memory to measure with.
  double ns(std::uint32_t threads) const;
  /// Returns "--line-ns" or "measured".
  const char* source() const { return given_ns_ > 0 ? "--line-ns" : "measured"; }

 private:
  const double given_ns_;
  const std::size_t bytes_;
  const bool quiet_;
  std::map<std::uint32_t, double> measured_;
};

}  // namespace farvec::measure
