#include "cli/sweep_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/version.h"
#include "cli/measurement.h"
#include "cli/table.h"

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
    {"tier", 22}, {"probe", 5},         {"dedup", 5},  {"slots", 5},  {"thr", 3},    {"recall", 7},
    {"QPS", 9},   {"QPS min..max", 15}, {"p50 us", 8}, {"p99 us", 8}, {"groups", 7}, {"strays", 7},
    {"KB", 8},    {"dist.", 8}};

constexpr Column kDiskColumns[] = {
    {"search", 11}, {"pool", 6}, {"pref", 4},          {"page", 4},   {"MB", 8},
    {"L", 5},       {"W", 2},    {"rerank", 6},        {"slots", 5},  {"thr", 3},
    {"recall", 7},  {"QPS", 9},  {"QPS min..max", 15}, {"p50 us", 8}, {"p99 us", 8},
    {"I/Os", 7},    {"hit %", 6}};

/// What all tables show of a point, from the slots to the latencies.
std::vector<std::string> common_cells(const SweepPoint& point, const SweepSamples& samples) {
  const Summary qps(samples.qps);
  return {fmt::to_string(point.slots),
          fmt::to_string(point.threads),
          fmt::format("{:.4f}", samples.recall),
          fmt::format("{:.0f}", qps.median),
          qps.spread(),
          fmt::format("{:.1f}", median(samples.p50_us)),
          fmt::format("{:.1f}", median(samples.p99_us))};
}

void add_graph_facts(const layout::Manifest& manifest, const SweepPoint& point,
                     nlohmann::ordered_json& row) {
  row["list"] = point.list;
  row["width"] = point.width;
  row["degree"] = manifest.build.degree;
  row["code_bits"] = manifest.build.code_bits;
}

double hit_rate(const SweepSamples& samples) {
  const auto asked = samples.totals.cache_hits + samples.totals.pool_misses;
  return asked == 0 ? 0
                    : static_cast<double>(samples.totals.cache_hits) / static_cast<double>(asked);
}

void add_disk_facts(const SweepPoint& point, const SweepSamples& samples,
                    nlohmann::ordered_json& row) {
  if (point.disk.memory_budget) row["memory_budget"] = *point.disk.memory_budget;
  row["memory_bytes"] = samples.memory_bytes;
  row["io_reads_per_query"] = per_query(samples.io_reads, samples);
  row["io_bytes_per_query"] = per_query(samples.io_bytes, samples);
}

void add_slotted_facts(const SweepPoint& point, const SweepSamples& samples,
                       nlohmann::ordered_json& row) {
  row["search"] = ssd_baseline::to_string(point.disk.search);
  row["pool"] = ssd_baseline::to_string(point.disk.pool);
  row["prefetch"] = point.disk.prefetch;
  row["page_search"] = point.disk.page_search;
  row["rerank"] = point.disk.rerank;
  row["rerank_reads_per_query"] = per_query(samples.totals.rerank_reads, samples);
  row["warm_queries"] = samples.warm_queries;
  row["pool_hit_rate"] = hit_rate(samples);
}

void add_cluster_facts(const layout::Manifest& manifest, const SweepPoint& point,
                       const SweepSamples& samples, nlohmann::ordered_json& row) {
  const auto& totals = samples.totals;
  row["probe"] = point.probing.clusters;
  row["dedup"] = point.probing.dedup;
  row["clusters"] = manifest.cluster.clusters;
  row["replicas"] = manifest.cluster_build.replicas;
  row["clusters_probed"] = per_query(totals.clusters, samples);
  row["group_reads_per_query"] = per_query(totals.group_reads, samples);
  row["list_reads_per_query"] = per_query(totals.list_reads, samples);
  row["stray_reads_per_query"] = per_query(totals.stray_reads, samples);
  if (std::isfinite(point.probing.prune_ratio)) row["prune_ratio"] = point.probing.prune_ratio;
}

std::string one_decimal(double value) {
  return fmt::format("{:.1f}", value);
}

}  // namespace

ReportContext make_context(const layout::Manifest& manifest, const std::string& index,
                           RowRange queries, std::uint32_t k) {
  return {manifest, index, queries, k, host_description()};
}

void print_sweep_header(layout::IndexKind kind) {
  kind == layout::IndexKind::graph ? print_header(kGraphColumns) : print_header(kClusterColumns);
}

void print_sweep_row(layout::IndexKind kind, const SweepPoint& point, const std::string& tier,
                     const SweepSamples& samples) {
  const auto& totals = samples.totals;
  const bool graph = kind == layout::IndexKind::graph;
  std::vector<std::string> cells{point.cache_bytes > 0 ? tier + "+cache" : tier};
  if (graph) {
    cells.push_back(fmt::to_string(point.list));
    cells.push_back(fmt::to_string(point.width));
  } else {
    cells.push_back(fmt::to_string(point.probing.clusters));
    cells.push_back(point.probing.dedup ? "on" : "off");
  }
  for (std::string& cell : common_cells(point, samples)) cells.push_back(std::move(cell));
  if (graph) {
    cells.push_back(one_decimal(per_query(totals.reads, samples)));
  } else {
    cells.push_back(one_decimal(per_query(totals.group_reads, samples)));
    cells.push_back(one_decimal(per_query(totals.stray_reads, samples)));
  }
  cells.push_back(one_decimal(per_query(totals.bytes, samples) / 1000));
  cells.push_back(
      fmt::format("{:.0f}", per_query(graph ? totals.estimates : totals.distances, samples)));
  graph ? print_row(kGraphColumns, cells) : print_row(kClusterColumns, cells);
}

void print_slotted_header() {
  print_header(kDiskColumns);
}

void print_slotted_row(const SweepPoint& point, const SweepSamples& samples) {
  std::vector<std::string> cells{
      std::string(ssd_baseline::to_string(point.disk.search)),
      std::string(ssd_baseline::to_string(point.disk.pool)),
      point.disk.prefetch ? "on" : "off",
      point.disk.page_search ? "on" : "off",
      fmt::format("{:.1f}", static_cast<double>(samples.memory_bytes) / 1e6),
      fmt::to_string(point.list),
      fmt::to_string(point.width),
      fmt::to_string(point.disk.rerank)};
  for (std::string& cell : common_cells(point, samples)) cells.push_back(std::move(cell));
  cells.push_back(one_decimal(per_query(samples.totals.reads, samples)));
  cells.push_back(one_decimal(100 * hit_rate(samples)));
  print_row(kDiskColumns, cells);
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
      {"index_kind", to_string(manifest.index)},
      {"layout", manifest.layout_name()},
      {"tier", tier.name},
      {"tier_model", tier.model},
      {"metric", to_string(manifest.metric)},
      {"dtype", to_string(manifest.source_type)},
      {"k", context.k},
      {"slots", point.slots},
      {"threads", point.threads},
      {"cache_bytes", point.cache_bytes},
      {"recall", samples.recall},
      {"qps", qps.median},
      {"qps_min", qps.least},
      {"qps_max", qps.most},
      {"passes", samples.qps.size()},
      {"processor_us", median(samples.processor_us)},
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
      {"queries", samples.queries},
      {"queries_range", {context.queries.begin, context.queries.end}},
      {"commit", commit()},
      {"host", context.host}};
  manifest.index == layout::IndexKind::graph ? add_graph_facts(manifest, point, row)
                                             : add_cluster_facts(manifest, point, samples, row);
  if (samples.memory_bytes > 0) add_disk_facts(point, samples, row);
  if (manifest.is_slotted()) add_slotted_facts(point, samples, row);
  return row.dump();
}

}  // namespace farvec::cli
