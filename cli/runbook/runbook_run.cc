#include "cli/runbook/runbook_run.h"

#include <chrono>
#include <limits>
#include <numeric>

#include "cli/interrupt.h"
#include "cli/report/statistics.h"
#include "cli/sweep/sweep_plan.h"
#include "dataset/recall.h"

namespace farvec::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

VectorView rows_of(const VectorView& data, const RunbookStep& step) {
  return rows_in(data, {step.begin, step.end});
}

std::vector<NodeId> ids_of(const RunbookStep& step) {
  std::vector<NodeId> ids(step.count());
  std::iota(ids.begin(), ids.end(), step.first_id);
  return ids;
}

class Run {
 public:
  Run(const TruthInput& input, ChangingIndex& index)
      : input_(input), index_(index), live_(input.data.count) {}

  StepOutcome run(const RunbookStep& step) {
    live_.apply(step);
    StepOutcome outcome{.step = step, .live = live_.count(), .operations = step.count()};
    const DiskBytes before = index_.disk_bytes();
    if (step.kind == StepKind::search) {
      search(outcome);
    } else {
      change(outcome);
    }
    if (interrupted()) throw Interrupted{};
    const DiskBytes after = index_.disk_bytes();
    outcome.disk = {after.read - before.read, after.written - before.written};
    outcome.stored_bytes = index_.stored_bytes();
    return outcome;
  }

 private:
  void change(StepOutcome& outcome) {
    const RunbookStep& step = outcome.step;
    const std::vector<NodeId> ids = ids_of(step);
    const auto start = Clock::now();
    if (step.kind != StepKind::insert) index_.erase(ids);
    if (step.kind != StepKind::erase) index_.insert(rows_of(input_.data, step), ids);
    outcome.seconds = seconds_since(start);
  }

  void search(StepOutcome& outcome) {
    const std::size_t queries = input_.queries.count;
    const std::size_t cells = queries * input_.k;
    dataset::GroundTruth found{queries, input_.k, std::vector<NodeId>(cells, kInvalidNode),
                               std::vector<float>(cells, std::numeric_limits<float>::infinity())};
    std::vector<float> latency_us;
    const auto start = Clock::now();
    index_.search(input_.queries, found, latency_us);
    outcome.seconds = seconds_since(start);
    if (interrupted()) return;
    outcome.operations = queries;
    outcome.p50_us = percentile(latency_us, 0.5);
    outcome.p99_us = percentile(latency_us, 0.99);
    const dataset::GroundTruth truth = truth_of_step(input_, outcome.step, live_);
    // Of unit vectors the index has other distances than the truth: there ids decide.
    const float* const distances =
        input_.metric == Metric::cosine ? nullptr : found.distances.data();
    outcome.recall =
        dataset::recall_at_k({found.ids.data(), distances, queries, input_.k}, truth, input_.k);
  }

  const TruthInput& input_;
  ChangingIndex& index_;
  LiveSet live_;
};

}  // namespace

std::vector<StepOutcome> run_runbook(const Runbook& runbook, const TruthInput& input,
                                     ChangingIndex& index,
                                     const std::function<void(const StepOutcome&)>& told) {
  std::vector<StepOutcome> outcomes;
  Run run(input, index);
  for (const RunbookStep& step : runbook.steps) {
    outcomes.push_back(run.run(step));
    told(outcomes.back());
  }
  return outcomes;
}

double mean_recall(const std::vector<StepOutcome>& steps) {
  double sum = 0;
  std::size_t searches = 0;
  for (const StepOutcome& outcome : steps) {
    if (outcome.step.kind != StepKind::search) continue;
    sum += outcome.recall;
    ++searches;
  }
  return searches == 0 ? 0 : sum / static_cast<double>(searches);
}

}  // namespace farvec::cli
