#include "measure/sweep/sweep_report.h"

#include <fmt/format.h>

#include "measure/sweep/kind_rows.h"

namespace farvec::measure {
namespace {

void add_sizes(const ReportContext& context, const SweepSamples& samples,
               nlohmann::ordered_json& row) {
  const layout::Manifest& manifest = context.manifest;
  const std::uint64_t index_bytes = manifest.region(layout::kRecordsRegion).file_bytes();
  row["index_bytes"] = index_bytes;
  if (manifest.second_copy) row["second_copy_bytes"] = manifest.second_copy_bytes();
  row["dataset_bytes"] = manifest.dataset_bytes();
  row["amplification"] =
      static_cast<double>(index_bytes) / static_cast<double>(manifest.dataset_bytes());
  row["compute_dram_bytes"] = context.index_dram_bytes + samples.core_dram_bytes;
  row["index_dram_bytes_per_vector"] =
      static_cast<double>(context.index_dram_bytes) / static_cast<double>(manifest.count);
}

}  // namespace

nlohmann::ordered_json sweep_parameters(const ReportContext& context, const SweepPoint& point,
                                        const std::string& tier) {
  const layout::Manifest& manifest = context.manifest;
  nlohmann::ordered_json row{
      {"dataset", manifest.dataset.name},
      {"index_xxh3", fmt::format("{:016x}", context.index_xxh3)},
      {"index_kind", to_string(manifest.kind())},
      {"layout", manifest.layout_name()},
      {"tier", tier},
      {"metric", to_string(manifest.metric)},
      {"dtype", to_string(manifest.source_type)},
      {"k", context.queries.k},
      {"slots", point.slots},
      {"slots_auto", or_null(point.auto_slots, true)},
      {"threads", point.threads},
      {"cache_bytes", point.cache_bytes},
      {"memory_budget",
       or_null(point.disk.memory_budget.has_value(), point.disk.memory_budget.value_or(0))},
      {"queries_xxh3", fmt::format("{:016x}", context.queries_xxh3)},
      {"queries_range", {context.queries.range.begin, context.queries.range.end}},
      {"passes", context.queries.passes},
      {"pass_ms", context.queries.pass_ms}};
  // A number that is chosen by measuring may be another one the next time.
  if (point.auto_slots) row.erase("slots");
  if (manifest.second_copy) {
    row["second_tier"] = context.second_tier.empty() ? tier : context.second_tier;
  }
  row["filter"] = or_null(!context.queries.filter.empty(), context.queries.filter);
  rows_of(manifest).add_parameters(context, point, row);
  return row;
}

void add_measured(const ReportContext& context, const SweepSamples& samples,
                  nlohmann::ordered_json& row) {
  const auto& totals = samples.totals;
  samples.add_to(row);
  row["reads_per_query"] = per_query(totals.reads, samples);
  row["bytes_per_query"] = per_query(totals.bytes, samples);
  row["hops_per_query"] = per_query(totals.hops, samples);
  row["cache_hits_per_query"] = per_query(totals.cache_hits, samples);
  row["estimates_per_query"] = per_query(totals.estimates, samples);
  row["distances_per_query"] = per_query(totals.distances, samples);
  if (context.manifest.second_copy) {
    row["rerank_reads_per_query"] = per_query(totals.rerank_reads, samples);
  }
  row["queries"] = samples.queries;
  if (context.queries.condition != nullptr) {
    row["matches"] = per_query(totals.matches, samples);
    row["walks_per_query"] = per_query(totals.walks, samples);
    row["scans_per_query"] = per_query(totals.scans, samples);
    row["bridges_per_query"] = per_query(totals.bridges, samples);
  }
  if (samples.device_bound_qps > 0) row["device_bound_qps"] = samples.device_bound_qps;
  if (samples.compute_bound_qps > 0) {
    const Summary shares(samples.compute_bound_shares);
    row["compute_bound_qps"] = samples.compute_bound_qps;
    row["compute_bound_share"] = shares.median;
    row["compute_bound_share_min"] = shares.least;
    row["compute_bound_share_max"] = shares.most;
  }
  add_sizes(context, samples, row);
  rows_of(context.manifest).add_facts(context.manifest, samples, row);
}

}  // namespace farvec::measure
