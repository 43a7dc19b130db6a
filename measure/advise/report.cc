#include "measure/advise/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/version.h"
#include "measure/report/machine.h"
#include "measure/report/table.h"

namespace farvec::measure {
namespace {

constexpr Column kColumns[] = {{"index", 41},   {"L/probe", 7}, {"QPS", 8},    {"bound by", 12},
                               {"slots", 5},    {"reads", 7},   {"KB", 7},     {"us/query", 8},
                               {"dev. QPS", 9}, {"x data", 6},  {"far GB", 8}, {"B/vector", 8},
                               {"DRAM GB", 8}};

/// The column that shows a measured disk's spread.
constexpr Column kSpread = {"QPS min..max", 14};
constexpr std::size_t kAfterRate = 3;

std::vector<Column> columns_of(const AdviceReport& report) {
  std::vector<Column> columns(std::begin(kColumns), std::end(kColumns));
  if (report.target.device.is_measured()) columns.insert(columns.begin() + kAfterRate, kSpread);
  return columns;
}

/// The share of a core that a machine without other work leaves to a search.
constexpr double kQuietShare = 0.9;

/// Up to this share of vertices with few edges, nothing is said of them.
constexpr double kFewSparse = 0.01;

constexpr const char* kCountNames[kCounts] = {"hops",        "reads",      "bytes",
                                              "estimates",   "distances",  "clusters",
                                              "group_reads", "list_reads", "stray_reads"};

const char* parameter_name(const Setting& setting) {
  return setting.is_graph() ? "list" : "probe";
}

/// Returns the gigabytes (10^9 bytes) of the whole index on the memory node or the disk.
double far_gb(const AdviceReport& report, const Forecast& forecast) {
  return forecast.amplification *
         static_cast<double>(report.target.rows * report.target.row_bytes) / 1e9;
}

/// Returns the gigabytes of compute DRAM, with what the searches take.
double dram_gb(const AdviceReport& report, const Forecast& forecast) {
  return (forecast.compute_dram_per_vector * static_cast<double>(report.target.rows) +
          forecast.search_dram) /
         1e9;
}

std::string whole(double value) {
  return fmt::format("{:.0f}", value);
}

std::string spread(const Prediction& prediction) {
  return fmt::format("{:.0f}..{:.0f}", prediction.qps_least, prediction.qps_most);
}

void print_forecast(const AdviceReport& report, const Forecast& forecast) {
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
    const char* const reason = forecast.fits ? "recall" : "memory";
    cells.insert(cells.end(), {"-", "-", reason, "-", "-", "-", "-", "-"});
  }
  cells.push_back(fmt::format("{:.2f}", forecast.amplification));
  cells.push_back(fmt::format("{:.3g}", far_gb(report, forecast)));
  cells.push_back(fmt::format("{:.1f}", forecast.compute_dram_per_vector));
  cells.push_back(fmt::format("{:.3g}", dram_gb(report, forecast)));
  if (report.target.device.is_measured()) {
    cells.insert(cells.begin() + kAfterRate, forecast.reached ? spread(forecast.prediction) : "-");
  }
  print_row(columns_of(report), cells);
}

/// Returns what units of work are called, in the order of work_units().
std::vector<const char*> unit_names(SearchFamily family) {
  switch (family) {
    case SearchFamily::graph:
    case SearchFamily::inlined:
      return {"record", "estimate"};
    case SearchFamily::slotted:
      return {"record", "estimate", "page"};
    case SearchFamily::cluster:
      break;
  }
  return {"query", "cluster", "distance", "small_read"};
}

const char* family_name(SearchFamily family) {
  switch (family) {
    case SearchFamily::graph:
      return "graph";
    case SearchFamily::inlined:
      return "inline";
    case SearchFamily::slotted:
      return "slotted";
    case SearchFamily::cluster:
      break;
  }
  return "cluster";
}

/// Prints lines like "graph: 488 ns per record, 38.3 ns per estimate".
void print_costs(const AdviceReport& report) {
  for (const auto& [family, model] : report.models) {
    if (model.costs.ns.empty()) continue;
    const std::vector<const char*> names = unit_names(family);
    std::string line;
    for (std::size_t i = 0; i < names.size(); ++i) {
      line += fmt::format("{} {:.3g} ns per {}", i == 0 ? "" : ",", model.costs.ns[i], names[i]);
    }
    fmt::print("{}:{}\n", family_name(family), line);
  }
}

/// Prints the widest spread over all sizes and numbers of reads.
void print_disk_spread(const AdviceDevice& device) {
  if (!device.is_measured()) return;
  double slowest = 1;
  double fastest = 1;
  const auto widen = [&](const std::vector<ReadCost>& sizes) {
    for (const ReadCost& cost : sizes) {
      slowest = std::max(slowest, cost.slowest);
      fastest = std::min(fastest, cost.fastest);
    }
  };
  widen(device.measured);
  for (const TogetherCosts& group : device.together) widen(group.sizes);
  fmt::print(
      "The disk's passes, before and after the small indexes, had {:.2f} to {:.2f} times the rate "
      "of the median; QPS min..max are with its reads as slow and as fast as in any pass.\n",
      1 / slowest, 1 / fastest);
}

/// Prints a line for each layout whose usual codes do not serve.
void print_steering(const AdviceReport& report) {
  for (const auto& [layout, steering] : report.recipe.steering) {
    fmt::print("graph, {}: {}\n", to_string(layout), steering.because);
  }
}

void print_choice(const AdviceReport& report) {
  const Forecast& best = report.forecasts[*report.choice];
  const std::string options = search_options(best.setting, report.recipe);
  const std::string varied = report.target.device.is_measured()
                                 ? fmt::format(" ({} as the disk varied)", spread(best.prediction))
                                 : "";
  fmt::print(
      "\ntake: {}: about {:.0f} QPS{}, bound by {}; {:.2f} times the data ({:.3g} GB) {}, {:.1f} "
      "bytes of compute DRAM per vector ({:.3g} GB)\n  {} --out DIR\n  search it with --{} {} "
      "--slots {}{}{}\n",
      to_string(best.setting), best.prediction.qps, varied, to_string(best.prediction.bound),
      best.amplification, far_gb(report, best),
      report.target.device.is_disk() ? "on the disk" : "on the memory node",
      best.compute_dram_per_vector, dram_gb(report, best),
      build_command(best.setting, report.file, report.recipe), parameter_name(best.setting),
      best.parameter, best.prediction.slots, options.empty() ? "" : " ", options);
}

/// Prints what indexes with fewer bits than the data can find at most, and whether one is enough.
void print_few_bits(const AdviceReport& report) {
  if (report.few_bits.empty()) return;
  fmt::print(
      "\nfewer bits, ranked again by a second copy: recall@{} at most, of a sample\n{:<22}{:>9}",
      report.k, "index of", "bytes");
  for (const std::uint32_t refine : kRefines) fmt::print("{:>9}", fmt::format("N = {}", refine));
  fmt::print("\n");
  for (const FewBits& tried : report.few_bits) {
    fmt::print("{:<22}{:>9}", to_string(tried.wish), tried.vector_bytes);
    for (const double recall : tried.recall) fmt::print("{:>9.4f}", recall);
    fmt::print("\n");
  }
  const auto choice = choose_few_bits(report.few_bits, report.recall);
  if (!choice) {
    fmt::print("none reaches {} with N of {} or less: keep the vectors as they are\n",
               report.recall, kRefines.back());
    return;
  }
  const FewBits& best = report.few_bits[*choice];
  fmt::print("enough in this sample: {} with --refine {} (more rows need more); build with {}\n",
             to_string(best.wish), *best.enough(report.recall), store_options(best.wish));
}

nlohmann::ordered_json few_bits_json(const AdviceReport& report) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const FewBits& tried : report.few_bits) {
    nlohmann::ordered_json row{{"index", to_string(tried.wish)},
                               {"build", store_options(tried.wish)},
                               {"vector_bytes", tried.vector_bytes}};
    for (std::size_t i = 0; i < kRefines.size(); ++i) {
      row["recall"][fmt::to_string(kRefines[i])] = tried.recall[i];
    }
    const auto enough = tried.enough(report.recall);
    row["refine"] = enough ? nlohmann::ordered_json(*enough) : nlohmann::ordered_json();
    all.push_back(std::move(row));
  }
  return all;
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
  if (trial.at_target.passes_ns.empty()) return row;
  row["computation_ns_per_query"] = trial.at_target.ns();
  row["computation_ns_at_half"] = trial.at_half.ns();
  row["cache_ns_per_query"] = trial.cache_ns;
  return row;
}

nlohmann::ordered_json setting_json(const AdviceReport& report, const Forecast& forecast) {
  nlohmann::ordered_json row{{"index", to_string(forecast.setting)},
                             {"index_kind", to_string(forecast.setting.kind)}};
  row["layout"] = layout_name(forecast.setting);
  if (forecast.setting.is_graph()) {
    row["degree"] = forecast.setting.degree;
  } else {
    row["cluster_rows"] = forecast.setting.partition.cluster_rows;
    row["replicas"] = forecast.setting.partition.replicas;
  }
  if (forecast.setting.is_slotted()) row["memory_percent"] = forecast.setting.memory_percent;
  row["build"] = build_command(forecast.setting, report.file, report.recipe);
  row["search"] = search_options(forecast.setting, report.recipe);
  const auto steering = report.recipe.steering.find(forecast.setting.graph_layout);
  if (forecast.setting.is_graph() && steering != report.recipe.steering.end()) {
    row["code_bits_because"] = steering->second.because;
  }
  row["reached"] = forecast.reached;
  row["fits_memory"] = forecast.fits;
  row["amplification"] = forecast.amplification;
  row["compute_dram_bytes_per_vector"] = forecast.compute_dram_per_vector;
  row["far_bytes"] = 1e9 * far_gb(report, forecast);
  row["compute_dram_bytes"] = 1e9 * dram_gb(report, forecast);
  if (forecast.reached) row["search_dram_bytes"] = forecast.search_dram;
  for (const TrialResult& trial : forecast.trials) {
    row["samples"].push_back(trial_json(forecast.setting, trial));
  }
  if (!forecast.reached) return row;
  row[parameter_name(forecast.setting)] = forecast.parameter;
  const Prediction& prediction = forecast.prediction;
  row["slots"] = prediction.slots;
  row["qps"] = prediction.qps;
  row["qps_min"] = prediction.qps_least;
  row["qps_max"] = prediction.qps_most;
  row["bound"] = to_string(prediction.bound);
  row["computation_qps"] = prediction.computation_qps;
  row["bandwidth_qps"] = prediction.bandwidth_qps;
  row["request_rate_qps"] = prediction.request_rate_qps;
  row["device_qps"] = prediction.device_qps;
  row["computation_ns_per_query"] = forecast.work.compute_ns;
  row["kernel_ns_per_query"] = forecast.work.kernel_ns;
  row["copy_ns_per_query"] = forecast.work.copy_ns;
  row["alone_us"] = prediction.alone_us;
  add_counts(forecast.counts, row);
  return row;
}

/// Adds the costs of reads of which `together` go out, and are waited for, together.
void add_disk_reads(double together, const std::vector<ReadCost>& sizes,
                    nlohmann::ordered_json& out) {
  for (const ReadCost& cost : sizes) {
    out.push_back({{"bytes", cost.bytes},
                   {"together", together},
                   {"reads_per_s", 1e9 / cost.occupied_ns},
                   {"reads_per_s_min", 1e9 / (cost.occupied_ns * cost.slowest)},
                   {"reads_per_s_max", 1e9 / (cost.occupied_ns * cost.fastest)},
                   {"kernel_ns", cost.kernel_ns}});
  }
}

void add_device(const AdviceDevice& device, nlohmann::ordered_json& out) {
  out["device"] = transport::to_string(device.model);
  out["device_kind"] = device.is_measured() ? "measured" : "model";
  if (!device.is_measured()) return;
  out["disk_depth"] = device.depth;
  out["disk_copy_ns_per_byte"] = device.copy_ns_per_byte;
  add_disk_reads(1, device.measured, out["disk_reads"]);
  for (const TogetherCosts& group : device.together) {
    add_disk_reads(group.reads, group.sizes, out["disk_reads"]);
  }
}

}  // namespace

void print_advice(const AdviceReport& report) {
  fmt::print("{} rows, recall@{} of {}, {} core{} on {}\n", report.target.rows, report.k,
             report.recall, report.target.threads, report.target.threads == 1 ? "" : "s",
             to_string(report.target.device));
  print_disk_spread(report.target.device);
  print_costs(report);
  print_steering(report);
  if (report.core_share < kQuietShare) {
    fmt::print(
        "The machine is busy: searches had {:.0f}% of a core while they were timed. Rates are "
        "those "
        "of whole cores; what is measured beside other work is lower.\n",
        100 * report.core_share);
  }
  if (report.sparse_share > kFewSparse) {
    fmt::print(
        "{:.0f}% of the vertices of the sample's graph have fewer than half of their edges: many "
        "rows repeat, or the sample is small. Searches of a graph may miss some of them.\n",
        100 * report.sparse_share);
  }
  fmt::print("\n");
  print_header(columns_of(report));
  for (const Forecast& forecast : report.forecasts) print_forecast(report, forecast);
  if (report.choice) print_choice(report);
  print_few_bits(report);
}

nlohmann::ordered_json advice_json(const AdviceReport& report) {
  nlohmann::ordered_json out{
      {"data", report.file.path},   {"metric", to_string(report.file.metric)},
      {"rows", report.target.rows}, {"sample_rows", report.sample_rows},
      {"queries", report.queries},  {"k", report.k},
      {"recall", report.recall}};
  add_device(report.target.device, out);
  out["threads"] = report.target.threads;
  out["core_share"] = report.core_share;
  out["sparse_share"] = report.sparse_share;
  for (const auto& [family, model] : report.models) {
    if (model.costs.ns.empty()) continue;
    const std::vector<const char*> names = unit_names(family);
    const std::string name = family_name(family);
    for (std::size_t i = 0; i < names.size(); ++i) {
      out[name + "_costs"][fmt::format("ns_per_{}", names[i])] = model.costs.ns[i];
    }
    out[name + "_growth"] = to_string(model.law);
  }
  nlohmann::ordered_json settings = nlohmann::ordered_json::array();
  for (const Forecast& forecast : report.forecasts) {
    settings.push_back(setting_json(report, forecast));
  }
  out["choice"] = report.choice ? settings[*report.choice] : nlohmann::ordered_json();
  out["settings"] = std::move(settings);
  out["few_bits"] = few_bits_json(report);
  const auto few = choose_few_bits(report.few_bits, report.recall);
  out["few_bits_choice"] = few ? out["few_bits"][*few] : nlohmann::ordered_json();
  out["host"] = host_description();
  out["commit"] = commit();
  return out;
}

}  // namespace farvec::measure
