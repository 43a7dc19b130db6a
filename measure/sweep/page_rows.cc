#include <fmt/format.h>

#include "measure/sweep/kind_rows.h"

namespace farvec::measure {
namespace {

constexpr Column kDiskColumns[] = {
    {"search", 11}, {"pool", 6}, {"pref", 4},          {"page", 4},   {"MB", 8},
    {"L", 5},       {"W", 2},    {"rerank", 6},        {"slots", 5},  {"thr", 3},
    {"recall", 7},  {"QPS", 9},  {"QPS min..max", 15}, {"p50 us", 8}, {"p99 us", 8},
    {"I/Os", 7},    {"hit %", 6}};

double hit_rate(const SweepSamples& samples) {
  const auto asked = samples.totals.cache_hits + samples.totals.pool_misses;
  return asked == 0 ? 0
                    : static_cast<double>(samples.totals.cache_hits) / static_cast<double>(asked);
}

class PageRows final : public KindRows {
 public:
  std::span<const Column> columns() const override { return kDiskColumns; }

  std::vector<std::string> choice_cells(const SweepPoint& point, const std::string&,
                                        const SweepSamples& samples) const override {
    const auto& graph = std::get<search::GraphChoice>(point.choice);
    return {std::string(slotted::to_string(point.disk.search)),
            std::string(slotted::to_string(point.disk.pool)),
            on_off(point.disk.prefetch),
            on_off(point.disk.page_search),
            one_decimal(static_cast<double>(samples.memory_bytes) / 1e6),
            fmt::to_string(graph.list),
            fmt::to_string(graph.width),
            fmt::to_string(point.disk.rerank.value_or(0))};
  }

  void add_counts(const SweepSamples& samples, std::vector<std::string>& cells) const override {
    cells.push_back(one_decimal(per_query(samples.totals.reads, samples)));
    cells.push_back(one_decimal(100 * hit_rate(samples)));
  }

  void add_parameters(const ReportContext& context, const SweepPoint& point,
                      nlohmann::ordered_json& row) const override {
    add_graph_parameters(context.manifest, point, row);
    row["search"] = slotted::to_string(point.disk.search);
    row["pool"] = slotted::to_string(point.disk.pool);
    row["prefetch"] = point.disk.prefetch;
    row["page_search"] = point.disk.page_search;
    row["rerank"] = point.disk.rerank.value_or(0);
  }

  void add_facts(const layout::Manifest&, const SweepSamples& samples,
                 nlohmann::ordered_json& row) const override {
    add_disk_facts(samples, row);
    row["rerank_reads_per_query"] = per_query(samples.totals.rerank_reads, samples);
    row["warm_queries"] = samples.warm_queries;
    row["pool_hit_rate"] = hit_rate(samples);
  }
};

}  // namespace

const KindRows& page_rows() {
  static const PageRows rows;
  return rows;
}

}  // namespace farvec::measure
