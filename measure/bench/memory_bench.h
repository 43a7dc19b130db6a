// Measures what this machine's memory gives to random cache lines.
#pragma once

#include <cstdint>

#include "base/progress.h"
#include "measure/bench/bench_memory_report.h"
#include "measure/report/measurement.h"

namespace farvec::measure {

struct MemoryBenchOptions {
  MemoryAxes axes;
  std::uint64_t bytes = 0;  ///< size of the memory that has the lines; 0: default_set_bytes()
  std::uint32_t passes = 3;
  double pass_ms = 50;
  Interruption interrupted = {};
};

/// Measures, prints, and writes the lines; when it is interrupted, those of what it has measured.
/// Throws Error.
void bench_memory(const MemoryBenchOptions& options, JsonLines& json);

}  // namespace farvec::measure
