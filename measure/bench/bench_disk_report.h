// How `farvec bench disk` shows what it measured.
#pragma once

#include <string>

#include "measure/bench/bench_report.h"

namespace farvec::measure {

/// What is the same for all rows.
struct DiskFacts {
  std::string path;   ///< as the user gave it
  std::string model;  ///< the engine's description
  std::string fio;    ///< "fio-3.33"; "" when it is not measured
  std::uint64_t bytes = 0;
  std::uint32_t block_bytes = 0;
  bool direct = true;
};

/// One combination: ours, and fio's passes in the same order when there is fio. A depth is
/// point.inflight.
struct DiskRow {
  BenchPoint point;
  BenchSamples farvec;
  BenchSamples fio;

  /// Ours by fio's rate, pass by pass; empty without fio.
  std::vector<double> ratios() const;
};

void print_disk_header();
/// One line for ours, one for fio.
void print_disk_row(const DiskRow& row);

/// JSON objects without line breaks, as many lines as print_disk_row() prints.
std::vector<std::string> disk_json(const BenchContext& context, const DiskFacts& facts,
                                   const DiskRow& row);

}  // namespace farvec::measure
