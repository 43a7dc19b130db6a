#include "cli/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/version.h"
#include "cli/measurement.h"

namespace farvec::cli {
namespace {

constexpr std::uint32_t kUsualBatch = 8;

/// Ascending and without repetition. With all reads in one batch the wire would run dry between
/// two of them: by itself a batch is half of those in flight.
std::vector<std::uint32_t> fitting_batches(const BenchAxes& axes, std::uint32_t inflight) {
  std::vector<std::uint32_t> batches = axes.batches;
  if (batches.empty()) batches = {std::clamp(inflight / 2, 1u, kUsualBatch)};
  for (auto& batch : batches) batch = std::min(batch, inflight);
  std::sort(batches.begin(), batches.end());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

std::string_view or_dash(std::string_view text) {
  return text.empty() ? "-" : text;
}

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

void print_bench_header() {
  fmt::print(
      "{:<22} {:>6} {:>8} {:>3} {:>7} {:>8} {:>5} {:>5} {:>11} {:>20} {:>8} {:>9} {:>9} {:>9}\n",
      "tier", "signal", "doorbell", "thr", "payload", "inflight", "batch", "mix", "reads/s",
      "min..max", "GB/s", "mean us", "p50 us", "p99 us");
}

void print_bench_row(const BenchPoint& point, const BenchTierFacts& tier,
                     const BenchSamples& samples) {
  const auto& rates = samples.reads_per_s;
  const auto [low, high] = std::minmax_element(rates.begin(), rates.end());
  fmt::print(
      "{:<22} {:>6} {:>8} {:>3} {:>7} {:>8} {:>5} {:>5} {:>11.0f} {:>20} {:>8.3f} {:>9.2f} "
      "{:>9.2f} "
      "{:>9.2f}\n",
      tier.name, or_dash(tier.signal), or_dash(tier.doorbell), point.threads, point.payload_bytes,
      point.inflight, point.batch, point.mix, median(rates),
      fmt::format("{:.0f}..{:.0f}", *low, *high), median(samples.gb_per_s), median(samples.mean_us),
      median(samples.p50_us), median(samples.p99_us));
}

std::string bench_json(const BenchContext& context, const BenchPoint& point,
                       const BenchTierFacts& tier, const BenchSamples& samples) {
  const auto& rates = samples.reads_per_s;
  const auto [low, high] = std::minmax_element(rates.begin(), rates.end());
  nlohmann::ordered_json row{{"tier", tier.name},
                             {"tier_model", tier.model},
                             {"region_bytes", tier.region_bytes},
                             {"payload", point.payload_bytes},
                             {"inflight", point.inflight},
                             {"batch", point.batch},
                             {"mix", point.mix},
                             {"threads", point.threads},
                             {"reads_per_s", median(rates)},
                             {"reads_per_s_min", *low},
                             {"reads_per_s_max", *high},
                             {"gb_per_s", median(samples.gb_per_s)},
                             {"mean_us", median(samples.mean_us)},
                             {"p50_us", median(samples.p50_us)},
                             {"p99_us", median(samples.p99_us)},
                             {"passes", rates.size()},
                             {"pass_ms", context.pass_ms},
                             {"seed", context.seed},
                             {"commit", commit()},
                             {"host", context.host}};
  if (!tier.signal.empty()) row["signal"] = tier.signal;
  if (!tier.doorbell.empty()) row["doorbell"] = tier.doorbell;
  return row.dump();
}

}  // namespace farvec::cli
