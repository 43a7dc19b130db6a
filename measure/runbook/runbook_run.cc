#include "measure/runbook/runbook_run.h"

#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>

#include "base/error.h"
#include "base/stored_form.h"
#include "changes/batches.h"
#include "dataset/recall.h"
#include "dataset/vector_set.h"
#include "measure/report/row_range.h"
#include "measure/report/statistics.h"

namespace farvec::measure {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

VectorView rows_of(const VectorView& data, const RunbookStep& step) {
  return rows_in(data, {step.begin, step.end});
}

std::vector<std::uint64_t> ids_of(const RunbookStep& step) {
  std::vector<std::uint64_t> ids(step.count());
  std::iota(ids.begin(), ids.end(), std::uint64_t{step.first_id});
  return ids;
}

/// A batch of a step waits up to an hour for room.
constexpr double kBatchUs = 3600e6;

class Run {
 public:
  Run(const TruthInput& input, RunbookIndex& index, const RunOptions& options)
      : input_(input), index_(index), options_(options), live_(input.data.count) {}

  StepOutcome run(const RunbookStep& step) {
    live_.apply(step);
    StepOutcome outcome{.step = step, .live = live_.count(), .operations = step.count()};
    const DiskBytes before = index_.disk_bytes();
    if (step.kind == StepKind::search) {
      search(outcome);
    } else {
      change(outcome);
    }
    if (asked_to_end(options_.interrupted)) throw WorkInterrupted();
    const DiskBytes after = index_.disk_bytes();
    outcome.disk = {after.read - before.read, after.written - before.written};
    outcome.stored_bytes = index_.stored_bytes();
    return outcome;
  }

 private:
  void change(StepOutcome& outcome) {
    const RunbookStep& step = outcome.step;
    const std::vector<std::uint64_t> ids = ids_of(step);
    const auto start = Clock::now();
    if (step.kind != StepKind::insert) erase(step, ids);
    if (step.kind != StepKind::erase) {
      insert({rows_of(input_.data, step), ids, attributes_of(step)});
    }
    outcome.seconds = seconds_since(start);
  }

  changes::Batches batches() const {
    return {.patience = {.interrupted = options_.interrupted}, .batch_us = kBatchUs};
  }

  layout::TupleView attributes_of(const RunbookStep& step) const {
    if (input_.attributes.count() == 0) return {};
    return input_.attributes.part(step.begin, step.count());
  }

  void insert(const changes::RowBatch& batch) {
    changes::Changing& changing = index_.changing();
    changing.check(batch);
    changes::Receipt receipt;
    changes::insert_all(changing, batch, batches(), receipt);
  }

  /// Every id is live by the runbook, so that an index that lacks one has lost it.
  void erase(const RunbookStep& step, std::span<const std::uint64_t> ids) {
    changes::Receipt receipt;
    changes::erase_all(index_.changing(), ids, batches(), receipt);
    if (receipt.missing > 0) {
      throw Error("step {}: {} of {} vectors to delete are not in the index", step.number,
                  receipt.missing, ids.size());
    }
    index_.settle();
  }

  struct Searched {
    dataset::GroundTruth found;
    std::vector<float> latency_us;
    double seconds = 0;
  };

  Searched search(RunbookIndex& index) const {
    const std::size_t queries = input_.queries.count;
    const std::size_t cells = queries * input_.k;
    Searched searched{.found = {queries, input_.k, std::vector<NodeId>(cells, kInvalidNode),
                                std::vector<float>(cells, std::numeric_limits<float>::infinity())},
                      .latency_us = {}};
    const auto start = Clock::now();
    index.search(input_.queries, searched.found, searched.latency_us);
    searched.seconds = seconds_since(start);
    return searched;
  }

  double recall_of(const dataset::GroundTruth& found, const dataset::GroundTruth& truth) const {
    // Where vectors are scaled to length 1 the index has other distances than the truth: there the
    // ids decide.
    const float* const distances =
        stores_unit_vectors(input_.metric) ? nullptr : found.distances.data();
    // Fewer than k rows may meet the filter.
    const std::uint32_t k = std::min<std::uint32_t>(input_.k, truth.k);
    if (k == 0) return 1;
    return dataset::recall_at_k({found.ids.data(), distances, found.queries, input_.k}, truth, k);
  }

  void search(StepOutcome& outcome) {
    Searched searched = search(index_);
    outcome.seconds = searched.seconds;
    if (asked_to_end(options_.interrupted)) return;
    outcome.operations = input_.queries.count;
    outcome.p50_us = percentile(searched.latency_us, 0.5);
    outcome.p99_us = percentile(searched.latency_us, 0.99);
    const dataset::GroundTruth truth = truth_of_step(input_, outcome.step, live_);
    outcome.recall = recall_of(searched.found, truth);
    if (options_.rebuild_every > 0 && ++searches_ % options_.rebuild_every == 0) {
      outcome.rebuilt = rebuild(truth);
    }
  }

  std::optional<RebuiltOutcome> rebuild(const dataset::GroundTruth& truth) const {
    const std::vector<NodeId> live = live_.ids();
    const std::vector<std::uint64_t> ids(live.begin(), live.end());
    dataset::VectorSet rows(ids.size(), input_.data.dimension, input_.data.type);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      std::memcpy(rows.mutable_row(i), input_.data.row(live_.row_of(live[i])),
                  rows.view().row_bytes());
    }
    layout::Tuples attributes;
    if (input_.attributes.count() > 0) {
      for (const NodeId id : live) attributes.append(input_.attributes.row(live_.row_of(id)));
    }
    const auto start = Clock::now();
    const std::unique_ptr<RunbookIndex> index =
        index_.rebuilt({rows.view(), ids, attributes.view()});
    if (index == nullptr) return std::nullopt;
    RebuiltOutcome outcome{.build_seconds = seconds_since(start)};
    const Searched searched = search(*index);
    outcome.recall = recall_of(searched.found, truth);
    outcome.searches_per_s = static_cast<double>(input_.queries.count) / searched.seconds;
    return outcome;
  }

  const TruthInput& input_;
  RunbookIndex& index_;
  const RunOptions& options_;
  std::uint32_t searches_ = 0;
  LiveSet live_;
};

}  // namespace

std::vector<StepOutcome> run_runbook(const Runbook& runbook, const TruthInput& input,
                                     RunbookIndex& index, const RunOptions& options) {
  std::vector<StepOutcome> outcomes;
  Run run(input, index, options);
  for (const RunbookStep& step : runbook.steps) {
    outcomes.push_back(run.run(step));
    options.told(outcomes.back());
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

}  // namespace farvec::measure
