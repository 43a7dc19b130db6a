#include "measure/bench/service_load/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/version.h"
#include "measure/report/json_text.h"
#include "measure/report/table.h"

namespace farvec::measure {
namespace {

constexpr Column kColumns[] = {
    {"load", 12},    {"offered/s", 10},  {"goodput/s", 10}, {"in time", 9}, {"late", 8},
    {"too late", 9}, {"queue full", 10}, {"failed", 7},     {"unsent", 7},  {"p50 ms", 8},
    {"p90 ms", 8},   {"p99 ms", 8},      {"p99.9 ms", 8},   {"max ms", 8}};

double ms(double ticks) {
  return ticks / ticks_per_us() / 1e3;
}

std::string count_of(const LoadCounts& counts, Outcome outcome) {
  return std::to_string(counts.of(outcome));
}

double offered_per_s(const LoadCounts& counts) {
  return counts.seconds > 0 ? static_cast<double>(counts.offered()) / counts.seconds : 0;
}

}  // namespace

void print_load_header() {
  print_header(kColumns);
}

void print_load_row(const LoadPoint& point, const LoadCounts& counts) {
  std::vector<std::string> cells{point.clients > 0 ? fmt::format("{} clients", point.clients)
                                                   : fmt::format("{:.0f}/s", point.rate),
                                 fmt::format("{:.0f}", offered_per_s(counts)),
                                 fmt::format("{:.0f}", counts.goodput()),
                                 count_of(counts, Outcome::in_time),
                                 count_of(counts, Outcome::late),
                                 count_of(counts, Outcome::too_late),
                                 count_of(counts, Outcome::queue_full),
                                 count_of(counts, Outcome::failed),
                                 count_of(counts, Outcome::unsent)};
  for (const double share : {0.5, 0.9, 0.99, 0.999}) {
    cells.push_back(fmt::format("{:.2f}", ms(counts.latency.percentile(share))));
  }
  cells.push_back(fmt::format("{:.2f}", ms(static_cast<double>(counts.latency.max()))));
  print_row(kColumns, cells);
}

std::string load_json(const LoadFacts& facts, const LoadPoint& point, const LoadCounts& counts) {
  nlohmann::ordered_json line;
  line["connect"] = facts.address;
  line["queries"] = facts.queries;
  line["k"] = facts.parameters.k;
  line["list"] = facts.parameters.list;
  line["width"] = facts.parameters.width;
  line["probe"] = facts.parameters.probing.clusters;
  if (!facts.parameters.filter.empty()) line["filter"] = facts.parameters.filter;
  line["deadline_ms"] = facts.plan.deadline.count();
  line["loop"] = point.clients > 0 ? "closed" : "open";
  line["rate"] = point.rate;
  line["clients"] = point.clients;
  line["seconds"] = counts.seconds;
  line["offered"] = counts.offered();
  line["in_time"] = counts.of(Outcome::in_time);
  line["late"] = counts.of(Outcome::late);
  line["refused"] = counts.refused();
  line["refused_too_late"] = counts.of(Outcome::too_late);
  line["refused_queue_full"] = counts.of(Outcome::queue_full);
  line["failed"] = counts.of(Outcome::failed);
  line["unsent"] = counts.of(Outcome::unsent);
  line["goodput_per_s"] = counts.goodput();
  line["p50_ms"] = ms(counts.latency.percentile(0.5));
  line["p90_ms"] = ms(counts.latency.percentile(0.9));
  line["p99_ms"] = ms(counts.latency.percentile(0.99));
  line["p999_ms"] = ms(counts.latency.percentile(0.999));
  line["max_ms"] = ms(static_cast<double>(counts.latency.max()));
  if (!counts.first_failure.empty()) line["first_failure"] = counts.first_failure;
  line["seed"] = facts.plan.seed;
  line["commit"] = commit();
  line["host"] = facts.host;
  return json_text(line);
}

}  // namespace farvec::measure
