#include <fmt/format.h>

#include <cmath>

#include "measure/sweep/kind_rows.h"

namespace farvec::measure {
namespace {

constexpr Column kClusterColumns[] = {
    {"tier", 22},  {"probe", 5},  {"L", 5},     {"dedup", 5},         {"slots", 5},
    {"thr", 3},    {"recall", 7}, {"QPS", 9},   {"QPS min..max", 15}, {"p50 us", 8},
    {"p99 us", 8}, {"groups", 7}, {"lists", 7}, {"strays", 7},        {"reads", 7},
    {"KB", 8},     {"est.", 7},   {"dist.", 8}, {"bound", 9},         {"compute", 9}};

class ClusterRows final : public KindRows {
 public:
  std::span<const Column> columns() const override { return kClusterColumns; }

  std::vector<std::string> choice_cells(const SweepPoint& point, const std::string& tier,
                                        const SweepSamples& samples) const override {
    const auto& probing = std::get<search::ProbeChoice>(point.choice);
    const bool coded = samples.totals.estimates > 0;
    return {tier_cell(point, tier), fmt::to_string(probing.clusters),
            coded ? fmt::to_string(probing.list) : "-", on_off(probing.dedup)};
  }

  void add_counts(const SweepSamples& samples, std::vector<std::string>& cells) const override {
    const auto& totals = samples.totals;
    for (auto reads : {totals.group_reads, totals.list_reads, totals.stray_reads, totals.reads}) {
      cells.push_back(one_decimal(per_query(reads, samples)));
    }
    cells.push_back(one_decimal(per_query(totals.bytes, samples) / 1000));
    for (const auto work : {totals.estimates, totals.distances}) {
      cells.push_back(fmt::format("{:.0f}", per_query(work, samples)));
    }
    cells.push_back(bound_cell(samples));
    cells.push_back(compute_cell(samples));
  }

  void add_parameters(const ReportContext& context, const SweepPoint& point,
                      nlohmann::ordered_json& row) const override {
    const auto& probing = std::get<search::ProbeChoice>(point.choice);
    const float ratio = probing.prune_ratio;
    row["probe"] = probing.clusters;
    if (context.manifest.has_member_codes()) row["list"] = probing.list;
    row["dedup"] = probing.dedup;
    row["prune_ratio"] = or_null(std::isfinite(ratio), ratio);
    row["merge_gap"] = or_null(context.merge_gap.has_value(), context.merge_gap.value_or(0));
  }

  void add_facts(const layout::Manifest& manifest, const SweepSamples& samples,
                 nlohmann::ordered_json& row) const override {
    const auto& totals = samples.totals;
    row["clusters"] = manifest.cluster().geometry.clusters;
    row["replicas"] = manifest.cluster().build.replicas;
    if (manifest.has_member_codes()) row["code_bits"] = manifest.cluster().geometry.code_bits;
    row["clusters_probed"] = per_query(totals.clusters, samples);
    row["centroid_distances_per_query"] = per_query(totals.centroid_distances, samples);
    row["centroid_estimates_per_query"] = per_query(totals.centroid_estimates, samples);
    row["group_reads_per_query"] = per_query(totals.group_reads, samples);
    row["list_reads_per_query"] = per_query(totals.list_reads, samples);
    row["stray_reads_per_query"] = per_query(totals.stray_reads, samples);
    add_disk_facts(samples, row);
  }
};

}  // namespace

const KindRows& rows_of(const layout::ClusterDescription&) {
  static const ClusterRows rows;
  return rows;
}

}  // namespace farvec::measure
