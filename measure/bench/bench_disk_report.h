// Shows what `farvec bench disk` measured.
#pragma once

#include <string>

#include "measure/bench/bench_report.h"

namespace farvec::measure {

/// Holds what is the same for all rows.
struct DiskFacts {
  std::string path;   ///< the path that the user gave
  std::string model;  ///< the engine's description
  std::string fio;    ///< "fio-3.33"; "" when it is not measured
  std::uint64_t bytes = 0;
  std::uint32_t block_bytes = 0;
  bool direct = true;
};

/// Holds one combination: our passes, and fio's passes in the same order when there is fio. A depth
/// is point.inflight.
struct DiskRow {
  BenchPoint point;
  BenchSamples farvec;
  BenchSamples fio;

  /// Returns our rate divided by fio's, pass by pass; empty without fio.
  std::vector<double> ratios() const;
};

void print_disk_header();
/// Prints one line for our engine, and one for fio when it was measured.
void print_disk_row(const DiskRow& row);

/// Returns JSON objects without line breaks, one per line that print_disk_row() prints.
std::vector<std::string> disk_json(const BenchContext& context, const DiskFacts& facts,
                                   const DiskRow& row);

}  // namespace farvec::measure
