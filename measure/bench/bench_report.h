// Defines what the benches of reads measure, and shows what `farvec bench transport` measured.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "transport/load/read_load.h"

namespace farvec::measure {

/// Describes one combination.
struct BenchPoint {
  std::size_t tier = 0;  ///< number in the list of tiers
  std::uint32_t threads = 1;
  std::uint32_t payload_bytes = 256;
  std::uint32_t inflight = 16;  ///< per thread
  std::uint32_t batch = 8;
  double mix = 0;
  std::uint32_t most_outstanding = 0;  ///< the most outstanding of reads that go together; 0: all
                                       ///< in flight
  bool together = false;  ///< a batch goes out when all of the one before has come, like a search's
                          ///< reads
};

/// Holds everything a user may vary. points() is the full product without repetitions. The tier
/// varies fastest, so that tiers are measured next to each other in every pass.
struct BenchAxes {
  std::size_t tiers = 1;
  std::vector<std::uint32_t> threads;
  std::vector<std::uint32_t> payloads;
  std::vector<std::uint32_t> inflights;
  /// Larger ones are reduced to the reads in flight. None: 8, or half of those in flight.
  std::vector<std::uint32_t> batches;
  std::vector<double> mixes;

  std::vector<BenchPoint> points() const;
};

/// Holds what the passes of one point measured.
struct BenchSamples {
  std::vector<double> reads_per_s;
  std::vector<double> gb_per_s;  ///< 10^9 bytes
  std::vector<double> mean_us;
  std::vector<double> p50_us;
  std::vector<double> p99_us;
  double device_bound_per_s = 0;  ///< reads that a modelled device allows; 0: there is none
};

/// Adds a pass of several threads.
void add_pass(BenchSamples& samples, std::span<const transport::LoadCounts> threads);

struct BenchContext {
  std::string host;
  double pass_ms = 0;
  std::uint64_t seed = 0;
};

struct BenchTierFacts {
  std::string name;
  std::string model;
  std::string signal;    ///< "last", "all"; "" where there is none
  std::string doorbell;  ///< "batch", "read"; "" where there is none
  std::uint64_t region_bytes = 0;
};

void print_bench_header();
void print_bench_row(const BenchPoint& point, const BenchTierFacts& tier,
                     const BenchSamples& samples);

/// Adds medians and spread of the passes: the fields that every bench of reads has.
void add_sample_fields(nlohmann::ordered_json& row, const BenchSamples& samples);
/// Adds how long it measured, with which seed, by which program, and where.
void add_context_fields(nlohmann::ordered_json& row, const BenchContext& context);

/// Returns one JSON object without line breaks.
std::string bench_json(const BenchContext& context, const BenchPoint& point,
                       const BenchTierFacts& tier, const BenchSamples& samples);

}  // namespace farvec::measure
