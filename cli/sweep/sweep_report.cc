#include "cli/sweep/sweep_report.h"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "base/version.h"
#include "cli/report/statistics.h"
#include "cli/report/table.h"

namespace farvec::cli {
namespace {

double per_query(std::uint64_t total, const SweepSamples& samples) {
  return samples.queries == 0 ? 0
                              : static_cast<double>(total) / static_cast<double>(samples.queries);
}

constexpr Column kGraphColumns[] = {
    {"tier", 22},  {"L", 5},      {"W", 2},     {"slots", 5},
    {"thr", 3},    {"recall", 7}, {"QPS", 9},   {"QPS min..max", 15},
    {"p50 us", 8}, {"p99 us", 8}, {"reads", 7}, {"KB", 8},
    {"estim.", 8}};
constexpr Column kClusterColumns[] = {
    {"tier", 22},  {"probe", 5},         {"dedup", 5},  {"slots", 5},  {"thr", 3},    {"recall", 7},
    {"QPS", 9},    {"QPS min..max", 15}, {"p50 us", 8}, {"p99 us", 8}, {"groups", 7}, {"lists", 7},
    {"strays", 7}, {"reads", 7},         {"KB", 8},     {"dist.", 8}};
constexpr Column kDiskColumns[] = {
    {"search", 11}, {"pool", 6}, {"pref", 4},          {"page", 4},   {"MB", 8},
    {"L", 5},       {"W", 2},    {"rerank", 6},        {"slots", 5},  {"thr", 3},
    {"recall", 7},  {"QPS", 9},  {"QPS min..max", 15}, {"p50 us", 8}, {"p99 us", 8},
    {"I/Os", 7},    {"hit %", 6}};

std::span<const Column> columns_of(const layout::Manifest& manifest) {
  if (manifest.is_slotted()) return kDiskColumns;
  if (manifest.is_graph()) return kGraphColumns;
  return kClusterColumns;
}

const char* on_off(bool value) {
  return value ? "on" : "off";
}

std::string one_decimal(double value) {
  return fmt::format("{:.1f}", value);
}

double hit_rate(const SweepSamples& samples) {
  const auto asked = samples.totals.cache_hits + samples.totals.pool_misses;
  return asked == 0 ? 0
                    : static_cast<double>(samples.totals.cache_hits) / static_cast<double>(asked);
}

/// The cells before the slots.
std::vector<std::string> choice_cells(const layout::Manifest& manifest, const SweepPoint& point,
                                      const std::string& tier, const SweepSamples& samples) {
  const auto* graph = std::get_if<search::GraphChoice>(&point.choice);
  if (manifest.is_slotted()) {
    return {std::string(ssd_baseline::to_string(point.disk.search)),
            std::string(ssd_baseline::to_string(point.disk.pool)),
            on_off(point.disk.prefetch),
            on_off(point.disk.page_search),
            one_decimal(static_cast<double>(samples.memory_bytes) / 1e6),
            fmt::to_string(graph->list),
            fmt::to_string(graph->width),
            fmt::to_string(point.disk.rerank.value_or(0))};
  }
  const std::string name = point.cache_bytes > 0 ? tier + "+cache" : tier;
  if (graph != nullptr) return {name, fmt::to_string(graph->list), fmt::to_string(graph->width)};
  const auto& probing = std::get<search::ProbeChoice>(point.choice);
  return {name, fmt::to_string(probing.clusters), on_off(probing.dedup)};
}

/// The cells behind the threads.
std::vector<std::string> result_cells(const layout::Manifest& manifest,
                                      const SweepSamples& samples) {
  const Summary qps(samples.qps);
  const auto& totals = samples.totals;
  const auto each = [&](std::uint64_t total) { return one_decimal(per_query(total, samples)); };
  std::vector<std::string> cells{
      fmt::format("{:.4f}", samples.recall), fmt::format("{:.0f}", qps.median), qps.spread(),
      one_decimal(median(samples.p50_us)), one_decimal(median(samples.p99_us))};
  const bool graph = manifest.is_graph();
  if (!graph) {
    for (auto reads : {totals.group_reads, totals.list_reads, totals.stray_reads}) {
      cells.push_back(each(reads));
    }
  }
  cells.push_back(each(totals.reads));
  if (manifest.is_slotted()) {
    cells.push_back(one_decimal(100 * hit_rate(samples)));
    return cells;
  }
  cells.push_back(one_decimal(per_query(totals.bytes, samples) / 1000));
  cells.push_back(
      fmt::format("{:.0f}", per_query(graph ? totals.estimates : totals.distances, samples)));
  return cells;
}

void add_disk_facts(const SweepSamples& samples, nlohmann::ordered_json& row) {
  row["memory_bytes"] = samples.memory_bytes;
  row["io_reads_per_query"] = per_query(samples.io_reads, samples);
  row["io_bytes_per_query"] = per_query(samples.io_bytes, samples);
}

void add_slotted_facts(const SweepSamples& samples, nlohmann::ordered_json& row) {
  row["rerank_reads_per_query"] = per_query(samples.totals.rerank_reads, samples);
  row["warm_queries"] = samples.warm_queries;
  row["pool_hit_rate"] = hit_rate(samples);
}

void add_cluster_facts(const layout::Manifest& manifest, const SweepSamples& samples,
                       nlohmann::ordered_json& row) {
  const auto& totals = samples.totals;
  row["clusters"] = manifest.cluster().geometry.clusters;
  row["replicas"] = manifest.cluster().build.replicas;
  row["clusters_probed"] = per_query(totals.clusters, samples);
  row["group_reads_per_query"] = per_query(totals.group_reads, samples);
  row["list_reads_per_query"] = per_query(totals.list_reads, samples);
  row["stray_reads_per_query"] = per_query(totals.stray_reads, samples);
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
  const layout::Manifest& manifest = context.manifest;
  const auto& totals = samples.totals;
  const Summary qps(samples.qps);
  row["recall"] = samples.recall;
  row["qps"] = qps.median;
  row["qps_min"] = qps.least;
  row["qps_max"] = qps.most;
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
  add_sizes(context, samples, row);
  if (manifest.is_cluster()) add_cluster_facts(manifest, samples, row);
  if (samples.memory_bytes > 0) add_disk_facts(samples, row);
  if (manifest.is_slotted()) add_slotted_facts(samples, row);
}

nlohmann::ordered_json or_null(bool holds, nlohmann::ordered_json value) {
  return holds ? std::move(value) : nlohmann::ordered_json();
}

void add_graph_parameters(const layout::Manifest& manifest, const SweepPoint& point,
                          nlohmann::ordered_json& row) {
  const auto& choice = std::get<search::GraphChoice>(point.choice);
  row["list"] = choice.list;
  row["width"] = choice.width;
  row["degree"] = manifest.graph().build.degree;
  row["code_bits"] = manifest.graph().build.code_bits;
  if (!manifest.is_slotted()) return;
  row["search"] = ssd_baseline::to_string(point.disk.search);
  row["pool"] = ssd_baseline::to_string(point.disk.pool);
  row["prefetch"] = point.disk.prefetch;
  row["page_search"] = point.disk.page_search;
  row["rerank"] = point.disk.rerank.value_or(0);
}

void add_cluster_parameters(const ReportContext& context, const SweepPoint& point,
                            nlohmann::ordered_json& row) {
  const auto& probing = std::get<search::ProbeChoice>(point.choice);
  const float ratio = probing.prune_ratio;
  row["probe"] = probing.clusters;
  row["dedup"] = probing.dedup;
  row["prune_ratio"] = or_null(std::isfinite(ratio), ratio);
  row["merge_gap"] = or_null(context.merge_gap.has_value(), context.merge_gap.value_or(0));
}

}  // namespace

void print_sweep_header(const layout::Manifest& manifest) {
  print_header(columns_of(manifest));
}

void print_sweep_row(const layout::Manifest& manifest, const SweepPoint& point,
                     const std::string& tier, const SweepSamples& samples) {
  const auto columns = columns_of(manifest);
  std::vector<std::string> cells = choice_cells(manifest, point, tier, samples);
  cells.push_back(point.slots == 0 ? "auto" : fmt::to_string(point.slots));
  cells.push_back(fmt::to_string(point.threads));
  if (samples.failure.empty()) {
    for (std::string& cell : result_cells(manifest, samples)) cells.push_back(std::move(cell));
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
  // Chosen by measuring, it may be another one the next time.
  if (point.auto_slots) row.erase("slots");
  manifest.is_graph() ? add_graph_parameters(manifest, point, row)
                      : add_cluster_parameters(context, point, row);
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
  // A message may hold what a peer sent.
  return row.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace farvec::cli
