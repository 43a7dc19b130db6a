#include "cli/advice/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/version.h"
#include "cli/measurement.h"
#include "cli/table.h"

namespace farvec::cli {
namespace {

constexpr Column kColumns[] = {{"index", 34},   {"L/probe", 7}, {"QPS", 8},     {"bound by", 12},
                               {"slots", 5},    {"reads", 7},   {"KB", 7},      {"us/query", 8},
                               {"dev. QPS", 9}, {"x data", 6},  {"B/vector", 8}};

constexpr const char* kCountNames[kCounts] = {"hops",        "reads",      "bytes",
                                              "estimates",   "distances",  "clusters",
                                              "group_reads", "list_reads", "stray_reads"};

const char* parameter_name(const Setting& setting) {
  return setting.kind == layout::IndexKind::graph ? "list" : "probe";
}

std::string whole(double value) {
  return fmt::format("{:.0f}", value);
}

void print_forecast(const Forecast& forecast) {
  std::vector<std::string> cells{to_string(forecast.setting)};
  if (forecast.reached) {
    const Prediction& prediction = forecast.prediction;
    cells.insert(
        cells.end(),
        {fmt::to_string(forecast.parameter), whole(prediction.qps),
         std::string(to_string(prediction.bound)), fmt::to_string(prediction.slots),
         fmt::format("{:.1f}", forecast.work.reads()),
         fmt::format("{:.1f}", forecast.work.bytes() / 1e3),
         fmt::format("{:.1f}", forecast.work.compute_ns / 1e3), whole(prediction.device_qps)});
  } else {
    cells.insert(cells.end(), {"-", "-", "recall", "-", "-", "-", "-", "-"});
  }
  cells.push_back(fmt::format("{:.2f}", forecast.amplification));
  cells.push_back(fmt::format("{:.1f}", forecast.compute_dram_per_vector));
  print_row(kColumns, cells);
}

void print_costs(const AdviceReport& report) {
  if (const auto& ns = report.graphs.costs.ns; !ns.empty()) {
    fmt::print("graph: {:.0f} ns per record read and scored, {:.1f} ns per estimate\n", ns[0],
               ns[1]);
  }
  if (const auto& ns = report.clusters.costs.ns; !ns.empty()) {
    fmt::print(
        "clusters: {:.0f} ns per query, {:.0f} ns per cluster, {:.1f} ns per vector scored, "
        "{:.0f} ns per list or stray read\n",
        ns[0], ns[1], ns[2], ns[3]);
  }
}

void print_choice(const AdviceReport& report) {
  const Forecast& best = report.forecasts[*report.choice];
  const bool graph = best.setting.kind == layout::IndexKind::graph;
  fmt::print(
      "\ntake: {}, {} {}{}, {} slots per core: about {:.0f} QPS, bound by {}; records {:.2f} times "
      "the data, {:.1f} bytes of compute DRAM per vector\n  {} --out DIR\n",
      to_string(best.setting), parameter_name(best.setting), best.parameter,
      graph ? fmt::format(", width {}", report.recipe.width) : "", best.prediction.slots,
      best.prediction.qps, to_string(best.prediction.bound), best.amplification,
      best.compute_dram_per_vector, build_command(best.setting, report.file, report.recipe));
}

void add_counts(const Counts& counts, nlohmann::ordered_json& row) {
  for (std::size_t i = 0; i < kCounts; ++i) {
    row[fmt::format("{}_per_query", kCountNames[i])] = counts[i];
  }
}

nlohmann::ordered_json trial_json(const Setting& setting, const TrialResult& trial) {
  nlohmann::ordered_json row{{"rows", trial.rows}, {"reached", trial.reached.has_value()}};
  if (!trial.reached) return row;
  row[parameter_name(setting)] = trial.reached->parameter;
  add_counts(trial.reached->counts, row);
  if (trial.at_target.ns == 0) return row;
  row["computation_ns_per_query"] = trial.at_target.ns;
  row["computation_ns_at_half"] = trial.at_half.ns;
  row["cache_ns_per_query"] = trial.cache_ns;
  return row;
}

nlohmann::ordered_json setting_json(const AdviceReport& report, const Forecast& forecast) {
  nlohmann::ordered_json row{{"index", to_string(forecast.setting)},
                             {"index_kind", to_string(forecast.setting.kind)}};
  if (forecast.setting.kind == layout::IndexKind::graph) {
    row["layout"] = "csr";
    row["degree"] = forecast.setting.degree;
  } else {
    row["layout"] = to_string(forecast.setting.layout);
    row["cluster_rows"] = forecast.setting.partition.cluster_rows;
    row["replicas"] = forecast.setting.partition.replicas;
  }
  row["build"] = build_command(forecast.setting, report.file, report.recipe);
  row["reached"] = forecast.reached;
  row["amplification"] = forecast.amplification;
  row["compute_dram_bytes_per_vector"] = forecast.compute_dram_per_vector;
  for (const TrialResult& trial : forecast.trials) {
    row["samples"].push_back(trial_json(forecast.setting, trial));
  }
  if (!forecast.reached) return row;
  row[parameter_name(forecast.setting)] = forecast.parameter;
  if (forecast.setting.kind == layout::IndexKind::graph) row["width"] = report.recipe.width;
  const Prediction& prediction = forecast.prediction;
  row["slots"] = prediction.slots;
  row["qps"] = prediction.qps;
  row["bound"] = to_string(prediction.bound);
  row["computation_qps"] = prediction.computation_qps;
  row["bandwidth_qps"] = prediction.bandwidth_qps;
  row["request_rate_qps"] = prediction.request_rate_qps;
  row["device_qps"] = prediction.device_qps;
  row["computation_ns_per_query"] = forecast.work.compute_ns;
  row["alone_us"] = prediction.alone_us;
  add_counts(forecast.counts, row);
  return row;
}

}  // namespace

void print_advice(const AdviceReport& report) {
  fmt::print("{} rows, recall@{} of {}, {} core{} on {}\n", report.target.rows, report.k,
             report.recall, report.target.threads, report.target.threads == 1 ? "" : "s",
             transport::to_string(report.target.device));
  print_costs(report);
  fmt::print("\n");
  print_header(kColumns);
  for (const Forecast& forecast : report.forecasts) print_forecast(forecast);
  if (report.choice) print_choice(report);
}

std::string advice_json(const AdviceReport& report) {
  nlohmann::ordered_json out{
      {"data", report.file.path},        {"metric", to_string(report.file.metric)},
      {"rows", report.target.rows},      {"sample_rows", report.sample_rows},
      {"queries", report.queries},       {"k", report.k},
      {"recall", report.recall},         {"device", transport::to_string(report.target.device)},
      {"threads", report.target.threads}};
  if (const auto& ns = report.graphs.costs.ns; !ns.empty()) {
    out["graph_costs"] = {{"ns_per_record", ns[0]}, {"ns_per_estimate", ns[1]}};
    out["graph_growth"] = to_string(report.graphs.law);
  }
  if (const auto& ns = report.clusters.costs.ns; !ns.empty()) {
    out["cluster_costs"] = {{"ns_per_query", ns[0]},
                            {"ns_per_cluster", ns[1]},
                            {"ns_per_distance", ns[2]},
                            {"ns_per_small_read", ns[3]}};
    out["cluster_growth"] = to_string(report.clusters.law);
  }
  nlohmann::ordered_json settings = nlohmann::ordered_json::array();
  for (const Forecast& forecast : report.forecasts) {
    settings.push_back(setting_json(report, forecast));
  }
  out["choice"] = report.choice ? settings[*report.choice] : nlohmann::ordered_json();
  out["settings"] = std::move(settings);
  out["host"] = host_description();
  out["commit"] = commit();
  return out.dump();
}

}  // namespace farvec::cli
