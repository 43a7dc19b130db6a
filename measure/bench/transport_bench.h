// Measures what tiers give to reads, without an index or a search.
#pragma once

#include <cstdint>
#include <vector>

#include "base/progress.h"
#include "measure/bench/bench_report.h"
#include "measure/report/measurement.h"
#include "rpc/tls_flags.h"
#include "tiers/tier.h"
#include "tiers/tier_spec.h"

namespace farvec::measure {

struct TransportBenchOptions {
  std::vector<tiers::TierSpecPointer> tiers;
  BenchAxes axes;                                  ///< all but the number of tiers
  std::vector<transport::VerbsTuning> tunings;     ///< tunings of verbs; at least one
  std::uint64_t bytes = std::uint64_t{256} << 20;  ///< size of a region in this machine's memory
  std::uint64_t seed = 1;
  std::uint32_t passes = 5;
  double pass_ms = 300;
  rpc::TlsFiles tls = {};
  Interruption interrupted = {};
};

/// Measures, prints, and writes the lines. Throws Error.
void bench_transport(const TransportBenchOptions& options, JsonLines& json);

}  // namespace farvec::measure
