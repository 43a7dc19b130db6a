#include "cli/sweep_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/version.h"
#include "cli/measurement.h"
#include "cli/table.h"

namespace farvec::cli {
namespace {

double per_query(std::uint64_t total, const SweepSamples& samples) {
  return samples.queries == 0 ? 0
                              : static_cast<double>(total) / static_cast<double>(samples.queries);
}

constexpr Column kColumns[] = {{"tier", 22},  {"L", 5},      {"W", 2},     {"slots", 5},
                               {"thr", 3},    {"recall", 7}, {"QPS", 9},   {"QPS min..max", 15},
                               {"p50 us", 8}, {"p99 us", 8}, {"reads", 7}, {"KB", 8},
                               {"estim.", 8}};

}  // namespace

ReportContext make_context(const layout::Manifest& manifest, const std::string& index,
                           RowRange queries, std::uint32_t k) {
  return {manifest, index, queries, k, host_description()};
}

void print_sweep_header() {
  print_header(kColumns);
}

void print_sweep_row(const SweepPoint& point, const std::string& tier,
                     const SweepSamples& samples) {
  const Summary qps(samples.qps);
  print_row(
      kColumns,
      {point.cache_bytes > 0 ? tier + "+cache" : tier, fmt::to_string(point.list),
       fmt::to_string(point.width), fmt::to_string(point.slots), fmt::to_string(point.threads),
       fmt::format("{:.4f}", samples.recall), fmt::format("{:.0f}", qps.median), qps.spread(),
       fmt::format("{:.1f}", median(samples.p50_us)), fmt::format("{:.1f}", median(samples.p99_us)),
       fmt::format("{:.1f}", per_query(samples.totals.reads, samples)),
       fmt::format("{:.1f}", per_query(samples.totals.bytes, samples) / 1000),
       fmt::format("{:.0f}", per_query(samples.totals.estimates, samples))});
}

std::string sweep_json(const ReportContext& context, const SweepPoint& point, const TierName& tier,
                       const SweepSamples& samples, std::size_t index_dram_bytes) {
  const layout::Manifest& manifest = context.manifest;
  const auto& totals = samples.totals;
  const std::uint64_t index_bytes = manifest.region(layout::kRecordsRegion).file_bytes();
  const Summary qps(samples.qps);
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
      {"qps", qps.median},
      {"qps_min", qps.least},
      {"qps_max", qps.most},
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
