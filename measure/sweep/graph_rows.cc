#include <fmt/format.h>

#include "measure/sweep/kind_rows.h"

namespace farvec::measure {
namespace {

constexpr Column kGraphColumns[] = {
    {"tier", 22},  {"L", 5},      {"W", 2},     {"slots", 5},
    {"thr", 3},    {"recall", 7}, {"QPS", 9},   {"QPS min..max", 15},
    {"p50 us", 8}, {"p99 us", 8}, {"reads", 7}, {"KB", 8},
    {"estim.", 8}, {"lines", 8},  {"bound", 9}, {"compute", 9}};

/// Returns the lines of the index, without those of the visited set.
std::uint64_t index_lines(const search::LineCounts& lines) {
  return lines.codes + lines.offsets + lines.records;
}

class GraphRows final : public KindRows {
 public:
  std::span<const Column> columns() const override { return kGraphColumns; }

  std::vector<std::string> choice_cells(const SweepPoint& point, const std::string& tier,
                                        const SweepSamples&) const override {
    const auto& graph = std::get<search::GraphChoice>(point.choice);
    return {tier_cell(point, tier), fmt::to_string(graph.list), fmt::to_string(graph.width)};
  }

  void add_counts(const SweepSamples& samples, std::vector<std::string>& cells) const override {
    cells.push_back(one_decimal(per_query(samples.totals.reads, samples)));
    cells.push_back(one_decimal(per_query(samples.totals.bytes, samples) / 1000));
    cells.push_back(fmt::format("{:.0f}", per_query(samples.totals.estimates, samples)));
    cells.push_back(fmt::format("{:.0f}", per_query(index_lines(samples.totals.lines), samples)));
    cells.push_back(bound_cell(samples));
    cells.push_back(compute_cell(samples));
  }

  void add_parameters(const ReportContext& context, const SweepPoint& point,
                      nlohmann::ordered_json& row) const override {
    add_graph_parameters(context.manifest, point, row);
  }

  void add_facts(const layout::Manifest&, const SweepSamples& samples,
                 nlohmann::ordered_json& row) const override {
    const search::LineCounts& lines = samples.totals.lines;
    row["lines_per_query"] = {{"codes", per_query(lines.codes, samples)},
                              {"offsets", per_query(lines.offsets, samples)},
                              {"visited", per_query(lines.visited, samples)},
                              {"records", per_query(lines.records, samples)}};
    if (samples.memory_bound_qps > 0) {
      row["line_ns"] = samples.line_ns;
      row["line_ns_source"] = samples.line_ns_source;
      row["memory_bound_qps"] = samples.memory_bound_qps;
    }
    add_disk_facts(samples, row);
  }
};

}  // namespace

void add_graph_parameters(const layout::Manifest& manifest, const SweepPoint& point,
                          nlohmann::ordered_json& row) {
  const auto& choice = std::get<search::GraphChoice>(point.choice);
  row["list"] = choice.list;
  row["width"] = choice.width;
  row["degree"] = manifest.graph().build.degree;
  row["code_bits"] = manifest.graph().build.code_bits;
}

const KindRows& rows_of(const layout::GraphDescription& description) {
  static const GraphRows rows;
  return description.slotted ? page_rows() : rows;
}

}  // namespace farvec::measure
