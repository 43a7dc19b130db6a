// Measures what a disk gives to random reads through our engine, beside fio.
#pragma once

#include <cstdint>
#include <string>

#include "base/progress.h"
#include "measure/bench/bench_report.h"
#include "measure/bench/disk_load.h"
#include "measure/report/measurement.h"

namespace farvec::measure {

struct DiskBenchOptions {
  DiskTarget target;
  BenchAxes axes;            ///< the depths are axes.inflights
  std::string fio = "auto";  ///< "on" throws where it is not installed; "off"
  std::uint64_t seed = 1;
  std::uint32_t passes = 5;
  double seconds = 1;  ///< duration of a pass
  Interruption interrupted = {};
};

/// Measures, prints, and writes the lines. Throws Error.
void bench_disk(const DiskBenchOptions& options, JsonLines& json);

}  // namespace farvec::measure
