#include "measure/runbook/runbook_report.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "measure/report/machine.h"
#include "measure/report/table.h"

namespace farvec::measure {
namespace {

constexpr std::array<Column, 9> kStepColumns{{{"step", 5},
                                              {"operation", 9},
                                              {"vectors", 10},
                                              {"rate/s", 10},
                                              {"recall", 7},
                                              {"p50 us", 9},
                                              {"p99 us", 9},
                                              {"read MB", 10},
                                              {"written MB", 10}}};

}  // namespace

void print_step_header() {
  print_header(kStepColumns);
}

nlohmann::ordered_json step_json(const StepOutcome& outcome) {
  nlohmann::ordered_json json{
      {"step", outcome.step.number},         {"operation", to_string(outcome.step.kind)},
      {"operations", outcome.operations},    {"live", outcome.live},
      {"seconds", outcome.seconds},          {"per_second", outcome.rate()},
      {"read_bytes", outcome.disk.read},     {"written_bytes", outcome.disk.written},
      {"stored_bytes", outcome.stored_bytes}};
  if (outcome.step.kind == StepKind::search) {
    json["recall"] = outcome.recall;
    json["p50_us"] = outcome.p50_us;
    json["p99_us"] = outcome.p99_us;
  }
  if (outcome.rebuilt) {
    json["rebuilt"] = {{"recall", outcome.rebuilt->recall},
                       {"build_seconds", outcome.rebuilt->build_seconds},
                       {"per_second", outcome.rebuilt->searches_per_s}};
  }
  return json;
}

void print_step(const StepOutcome& outcome) {
  const bool searched = outcome.step.kind == StepKind::search;
  const auto of_search = [searched](std::string text) { return searched ? std::move(text) : "-"; };
  print_row(kStepColumns,
            {std::to_string(outcome.step.number), std::string(to_string(outcome.step.kind)),
             std::to_string(outcome.live), fmt::format("{:.0f}", outcome.rate()),
             of_search(fmt::format("{:.4f}", outcome.recall)),
             of_search(fmt::format("{:.0f}", outcome.p50_us)),
             of_search(fmt::format("{:.0f}", outcome.p99_us)),
             fmt::format("{:.1f}", static_cast<double>(outcome.disk.read) / 1e6),
             fmt::format("{:.1f}", static_cast<double>(outcome.disk.written) / 1e6)});
}

double rate_of(const std::vector<StepOutcome>& steps, StepKind kind) {
  double operations = 0;
  double seconds = 0;
  for (const StepOutcome& outcome : steps) {
    if (outcome.step.kind != kind) continue;
    operations += static_cast<double>(outcome.operations);
    seconds += outcome.seconds;
  }
  return seconds > 0 ? operations / seconds : 0;
}

nlohmann::ordered_json summary_json(const RunbookFacts& facts,
                                    const std::vector<StepOutcome>& steps,
                                    const RunbookIndex& index) {
  DiskBytes total;
  for (const StepOutcome& outcome : steps) {
    total.read += outcome.disk.read;
    total.written += outcome.disk.written;
  }
  return {{"runbook", facts.path},
          {"dataset", facts.dataset},
          {"steps", steps.size()},
          {"k", facts.k},
          {"mean_recall", mean_recall(steps)},
          {"inserts_per_second", rate_of(steps, StepKind::insert)},
          {"deletes_per_second", rate_of(steps, StepKind::erase)},
          {"searches_per_second", rate_of(steps, StepKind::search)},
          {"read_bytes", total.read},
          {"written_bytes", total.written},
          {"index", index.describe()},
          {"host", host_description()}};
}

}  // namespace farvec::measure
