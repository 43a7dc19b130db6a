// How long a core takes for a random cache line of so much memory: what bounds the rate of a
// search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "base/progress.h"

namespace farvec::measure {

/// Given, or measured as measure/bench/memory_load.h does it: random lines of memory in huge pages,
/// of as many bytes as an index has, and at most of eight times the third-level cache.
class LineTime {
 public:
  /// `given_ns` is that of each core, alone or with others; 0: measure with `bytes` of memory.
  LineTime(double given_ns, std::size_t bytes, bool quiet = false)
      : given_ns_(given_ns), bytes_(bytes), quiet_(quiet) {}

  /// Measures for so many threads, unless that is given or was done, and says it on stderr.
  void measure(std::uint32_t threads, const Interruption& interrupted = {});
  /// Nanoseconds of one of so many busy cores; 0 when that was not measured or there is no memory
  /// to measure with.
  double ns(std::uint32_t threads) const;
  /// "--line-ns" or "measured".
  const char* source() const { return given_ns_ > 0 ? "--line-ns" : "measured"; }

 private:
  const double given_ns_;
  const std::size_t bytes_;
  const bool quiet_;
  std::map<std::uint32_t, double> measured_;
};

}  // namespace farvec::measure
