#include "measure/bench/bench_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/latency_histogram.h"
#include "base/version.h"
#include "measure/report/json_text.h"
#include "measure/report/statistics.h"
#include "measure/report/table.h"

namespace farvec::measure {
namespace {

constexpr std::uint32_t kUsualBatch = 8;

/// Returns the batches in ascending order and without repetition. With all reads in one batch the
/// wire would run dry between two of them, so by default a batch is half of those in flight.
std::vector<std::uint32_t> fitting_batches(const BenchAxes& axes, std::uint32_t inflight) {
  std::vector<std::uint32_t> batches = axes.batches;
  if (batches.empty()) batches = {std::clamp(inflight / 2, 1u, kUsualBatch)};
  for (auto& batch : batches) batch = std::min(batch, inflight);
  std::sort(batches.begin(), batches.end());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

constexpr Column kColumns[] = {{"tier", 22},    {"signal", 6},    {"doorbell", 8}, {"thr", 3},
                               {"payload", 7},  {"inflight", 8},  {"batch", 5},    {"mix", 5},
                               {"reads/s", 11}, {"min..max", 20}, {"GB/s", 8},     {"mean us", 9},
                               {"p50 us", 9},   {"p99 us", 9},    {"bound/s", 11}};

}  // namespace

std::vector<BenchPoint> BenchAxes::points() const {
  std::vector<BenchPoint> result;
  for (auto thread : threads) {
    for (auto mix : mixes) {
      for (auto payload : payloads) {
        for (auto inflight : inflights) {
          for (auto batch : fitting_batches(*this, inflight)) {
            for (std::size_t tier = 0; tier < tiers; ++tier) {
              result.push_back({tier, thread, payload, inflight, batch, mix});
            }
          }
        }
      }
    }
  }
  return result;
}

void add_pass(BenchSamples& samples, std::span<const transport::LoadCounts> threads) {
  double reads_per_us = 0;
  double bytes_per_us = 0;
  LatencyHistogram latency;
  for (const transport::LoadCounts& counts : threads) {
    const double us = ticks_to_us(counts.elapsed);
    reads_per_us += static_cast<double>(counts.reads) / us;
    bytes_per_us += static_cast<double>(counts.bytes) / us;
    latency.merge(counts.latency);
  }
  samples.reads_per_s.push_back(reads_per_us * 1e6);
  samples.gb_per_s.push_back(bytes_per_us / 1e3);
  samples.mean_us.push_back(latency.mean() / ticks_per_us());
  samples.p50_us.push_back(latency.percentile(0.50) / ticks_per_us());
  samples.p99_us.push_back(latency.percentile(0.99) / ticks_per_us());
}

void add_sample_fields(nlohmann::ordered_json& row, const BenchSamples& samples) {
  const Summary rate(samples.reads_per_s);
  row["reads_per_s"] = rate.median;
  row["reads_per_s_min"] = rate.least;
  row["reads_per_s_max"] = rate.most;
  row["gb_per_s"] = median(samples.gb_per_s);
  row["mean_us"] = median(samples.mean_us);
  row["p50_us"] = median(samples.p50_us);
  row["p99_us"] = median(samples.p99_us);
  row["passes"] = samples.reads_per_s.size();
}

void add_context_fields(nlohmann::ordered_json& row, const BenchContext& context) {
  row["pass_ms"] = context.pass_ms;
  row["seed"] = context.seed;
  row["commit"] = commit();
  row["host"] = context.host;
}

void print_bench_header() {
  print_header(kColumns);
}

void print_bench_row(const BenchPoint& point, const BenchTierFacts& tier,
                     const BenchSamples& samples) {
  const Summary rate(samples.reads_per_s);
  const double bound = samples.device_bound_per_s;
  print_row(kColumns, {tier.name, or_dash(tier.signal), or_dash(tier.doorbell),
                       fmt::to_string(point.threads), fmt::to_string(point.payload_bytes),
                       fmt::to_string(point.inflight), fmt::to_string(point.batch),
                       fmt::format("{:.3g}%", 100 * point.mix), fmt::format("{:.0f}", rate.median),
                       rate.spread(), fmt::format("{:.3f}", median(samples.gb_per_s)),
                       fmt::format("{:.2f}", median(samples.mean_us)),
                       fmt::format("{:.2f}", median(samples.p50_us)),
                       fmt::format("{:.2f}", median(samples.p99_us)),
                       bound > 0 ? fmt::format("{:.0f}", bound) : "-"});
}

std::string bench_json(const BenchContext& context, const BenchPoint& point,
                       const BenchTierFacts& tier, const BenchSamples& samples) {
  nlohmann::ordered_json row{{"tier", tier.name},
                             {"tier_model", tier.model},
                             {"region_bytes", tier.region_bytes},
                             {"payload", point.payload_bytes},
                             {"inflight", point.inflight},
                             {"batch", point.batch},
                             {"mix", point.mix},
                             {"threads", point.threads}};
  add_sample_fields(row, samples);
  if (samples.device_bound_per_s > 0) row["device_bound_per_s"] = samples.device_bound_per_s;
  add_context_fields(row, context);
  if (!tier.signal.empty()) row["signal"] = tier.signal;
  if (!tier.doorbell.empty()) row["doorbell"] = tier.doorbell;
  return json_text(row);
}

}  // namespace farvec::measure
