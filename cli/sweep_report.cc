#include "cli/sweep_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/version.h"
#include "cli/measurement.h"

namespace farvec::cli {
namespace {

double per_query(std::uint64_t total, const SweepSamples& samples) {
  return samples.queries == 0 ? 0
                              : static_cast<double>(total) / static_cast<double>(samples.queries);
}

}  // namespace

ReportContext make_context(const layout::Manifest& manifest, const std::string& index,
                           RowRange queries, std::uint32_t k) {
  return {manifest, index, queries, k, host_description()};
}

void print_sweep_header() {
  fmt::print("{:<22} {:>5} {:>2} {:>5} {:>3} {:>7} {:>9} {:>15} {:>8} {:>8} {:>7} {:>8} {:>8}\n",
             "tier", "L", "W", "slots", "thr", "recall", "QPS", "QPS min..max", "p50 us", "p99 us",
             "reads", "KB", "estim.");
}

void print_sweep_row(const SweepPoint& point, const std::string& tier,
                     const SweepSamples& samples) {
  const auto [low, high] = std::minmax_element(samples.qps.begin(), samples.qps.end());
  const std::string spread = fmt::format("{:.0f}..{:.0f}", *low, *high);
  const std::string name = point.cache_bytes > 0 ? fmt::format("{}+cache", tier) : tier;
  fmt::print(
      "{:<22} {:>5} {:>2} {:>5} {:>3} {:>7.4f} {:>9.0f} {:>15} {:>8.1f} {:>8.1f} {:>7.1f} "
      "{:>8.1f} {:>8.0f}\n",
      name, point.list, point.width, point.slots, point.threads, samples.recall,
      median(samples.qps), spread, median(samples.p50_us), median(samples.p99_us),
      per_query(samples.totals.reads, samples), per_query(samples.totals.bytes, samples) / 1000,
      per_query(samples.totals.estimates, samples));
}

std::string sweep_json(const ReportContext& context, const SweepPoint& point, const TierName& tier,
                       const SweepSamples& samples, std::size_t index_dram_bytes) {
  const layout::Manifest& manifest = context.manifest;
  const auto& totals = samples.totals;
  const std::uint64_t index_bytes = manifest.region(layout::kRecordsRegion).file_bytes();
  const auto [low, high] = std::minmax_element(samples.qps.begin(), samples.qps.end());
  nlohmann::ordered_json row{
      {"dataset", manifest.dataset.name},
      {"index", context.index},
      {"layout", to_string(manifest.layout)},
      {"tier", tier.name},
      {"tier_model", tier.model},
      {"metric", to_string(manifest.metric)},
      {"dtype", to_string(manifest.source_type)},
      {"k", context.k},
      {"list", point.list},
      {"width", point.width},
      {"slots", point.slots},
      {"threads", point.threads},
      {"cache_bytes", point.cache_bytes},
      {"recall", samples.recall},
      {"qps", median(samples.qps)},
      {"qps_min", *low},
      {"qps_max", *high},
      {"passes", samples.qps.size()},
      {"mean_us", median(samples.mean_us)},
      {"p50_us", median(samples.p50_us)},
      {"p99_us", median(samples.p99_us)},
      {"reads_per_query", per_query(totals.reads, samples)},
      {"bytes_per_query", per_query(totals.bytes, samples)},
      {"hops_per_query", per_query(totals.hops, samples)},
      {"cache_hits_per_query", per_query(totals.cache_hits, samples)},
      {"estimates_per_query", per_query(totals.estimates, samples)},
      {"distances_per_query", per_query(totals.distances, samples)},
      {"index_bytes", index_bytes},
      {"dataset_bytes", manifest.dataset_bytes()},
      {"amplification",
       static_cast<double>(index_bytes) / static_cast<double>(manifest.dataset_bytes())},
      {"compute_dram_bytes", index_dram_bytes + samples.core_dram_bytes},
      {"index_dram_bytes_per_vector",
       static_cast<double>(index_dram_bytes) / static_cast<double>(manifest.count)},
      {"degree", manifest.build.degree},
      {"code_bits", manifest.build.code_bits},
      {"queries", samples.queries},
      {"queries_range", {context.queries.begin, context.queries.end}},
      {"commit", commit()},
      {"host", context.host}};
  return row.dump();
}

}  // namespace farvec::cli
