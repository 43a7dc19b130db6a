#include "measure/sweep/sweep_report.h"

#include <fmt/format.h>

#include <utility>
#include <variant>
#include <vector>

#include "base/version.h"
#include "measure/report/json_text.h"
#include "measure/report/statistics.h"
#include "measure/report/table.h"
#include "measure/sweep/kind_rows.h"

namespace farvec::measure {
namespace {

const KindRows& rows_of(const layout::Manifest& manifest) {
  return std::visit(
      [](const auto& description) -> const KindRows& { return measure::rows_of(description); },
      manifest.description);
}

/// Returns the cells after the threads.
std::vector<std::string> result_cells(const KindRows& rows, const SweepSamples& samples) {
  const Summary qps(samples.qps);
  std::vector<std::string> cells{
      fmt::format("{:.4f}", samples.recall), fmt::format("{:.0f}", qps.median), qps.spread(),
      one_decimal(median(samples.p50_us)), one_decimal(median(samples.p99_us))};
  rows.add_counts(samples, cells);
  return cells;
}

void add_sizes(const ReportContext& context, const SweepSamples& samples,
               nlohmann::ordered_json& row) {
  const layout::Manifest& manifest = context.manifest;
  const std::uint64_t index_bytes = manifest.region(layout::kRecordsRegion).file_bytes();
  row["index_bytes"] = index_bytes;
  row["dataset_bytes"] = manifest.dataset_bytes();
  row["amplification"] =
      static_cast<double>(index_bytes) / static_cast<double>(manifest.dataset_bytes());
  row["compute_dram_bytes"] = context.index_dram_bytes + samples.core_dram_bytes;
  row["index_dram_bytes_per_vector"] =
      static_cast<double>(context.index_dram_bytes) / static_cast<double>(manifest.count);
}

void add_measured(const ReportContext& context, const SweepSamples& samples,
                  nlohmann::ordered_json& row) {
  const auto& totals = samples.totals;
  const Summary qps(samples.qps);
  row["recall"] = samples.recall;
  row["qps"] = qps.median;
  row["qps_min"] = qps.least;
  row["qps_max"] = qps.most;
  row["qps_passes"] = samples.qps;
  row["processor_us"] = median(samples.processor_us);
  row["mean_us"] = median(samples.mean_us);
  row["p50_us"] = median(samples.p50_us);
  row["p99_us"] = median(samples.p99_us);
  row["reads_per_query"] = per_query(totals.reads, samples);
  row["bytes_per_query"] = per_query(totals.bytes, samples);
  row["hops_per_query"] = per_query(totals.hops, samples);
  row["cache_hits_per_query"] = per_query(totals.cache_hits, samples);
  row["estimates_per_query"] = per_query(totals.estimates, samples);
  row["distances_per_query"] = per_query(totals.distances, samples);
  row["queries"] = samples.queries;
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

}  // namespace

void print_sweep_header(const layout::Manifest& manifest) {
  print_header(rows_of(manifest).columns());
}

void print_sweep_row(const layout::Manifest& manifest, const SweepPoint& point,
                     const std::string& tier, const SweepSamples& samples) {
  const KindRows& rows = rows_of(manifest);
  const auto columns = rows.columns();
  std::vector<std::string> cells = rows.choice_cells(point, tier, samples);
  cells.push_back(point.slots == 0 ? "auto" : fmt::to_string(point.slots));
  cells.push_back(fmt::to_string(point.threads));
  if (samples.failure.empty()) {
    for (std::string& cell : result_cells(rows, samples)) cells.push_back(std::move(cell));
    return print_row(columns, cells);
  }
  cells.resize(columns.size(), "-");
  print_row(columns, cells, "cannot run: " + samples.failure);
}

nlohmann::ordered_json sweep_parameters(const ReportContext& context, const SweepPoint& point,
                                        const std::string& tier) {
  const layout::Manifest& manifest = context.manifest;
  nlohmann::ordered_json row{{"dataset", manifest.dataset.name},
                             {"index_xxh3", fmt::format("{:016x}", context.index_xxh3)},
                             {"index_kind", to_string(manifest.kind())},
                             {"layout", manifest.layout_name()},
                             {"tier", tier},
                             {"metric", to_string(manifest.metric)},
                             {"dtype", to_string(manifest.source_type)},
                             {"k", context.k},
                             {"slots", point.slots},
                             {"slots_auto", or_null(point.auto_slots, true)},
                             {"threads", point.threads},
                             {"cache_bytes", point.cache_bytes},
                             {"memory_budget", or_null(point.disk.memory_budget.has_value(),
                                                       point.disk.memory_budget.value_or(0))},
                             {"queries_xxh3", fmt::format("{:016x}", context.queries_xxh3)},
                             {"queries_range", {context.queries.begin, context.queries.end}},
                             {"passes", context.passes},
                             {"pass_ms", context.pass_ms}};
  // A number that is chosen by measuring may be another one the next time.
  if (point.auto_slots) row.erase("slots");
  rows_of(manifest).add_parameters(context, point, row);
  return row;
}

std::string sweep_json(const ReportContext& context, const SweepPoint& point, const TierName& tier,
                       const SweepSamples& samples) {
  nlohmann::ordered_json row;
  const nlohmann::ordered_json parameters = sweep_parameters(context, point, tier.name);
  for (const auto& [name, value] : parameters.items()) {
    if (!value.is_null()) row[name] = value;
  }
  row["slots"] = point.slots;
  row["index"] = context.index;
  row["tier_model"] = tier.model;
  if (samples.failure.empty()) {
    add_measured(context, samples, row);
  } else {
    row["error"] = samples.failure;
  }
  row["commit"] = commit();
  row["host"] = context.host;
  row["command"] = context.command;
  // A message may hold what a peer sent.
  return json_text(row);
}

}  // namespace farvec::measure
