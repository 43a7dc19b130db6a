#include "measure/sweep/sweep_questions.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "dataset/recall.h"

namespace farvec::measure {
namespace {

/// Time limit of the run that says how fast the searches are.
constexpr double kProbeMs = 50;

}  // namespace

dataset::VectorSet SweepQuestions::load_rows(Metric metric) const {
  if (!rows) return dataset::load(queries, {.metric = metric});
  dataset::VectorSet copy(rows->count, rows->dimension, rows->type);
  for (std::size_t i = 0; i < rows->count; ++i) {
    std::memcpy(copy.mutable_row(i), rows->row(i), copy.view().row_bytes());
  }
  return copy;
}

dataset::GroundTruth SweepQuestions::load_truth() const {
  return truth ? *truth : dataset::read_groundtruth(groundtruth);
}

SweepQueries::SweepQueries(const SweepQuestions& questions, dataset::VectorSet stored,
                           const std::string& range_text, std::uint32_t neighbours)
    : truth(questions.load_truth()),
      all(std::move(stored)),
      range(parse_range(range_text, all.count(), "--queries-range")),
      rows(rows_in(all.view(), range)),
      k(neighbours) {
  for (const RowRange& other : {RowRange{0, range.begin}, {range.end, all.count()}}) {
    if (other.begin < other.end) warm_rows.push_back(rows_in(all.view(), other));
  }
  if (truth.queries >= range.end && truth.k >= k) return;
  throw Error("{} has {} neighbours for each of {} queries: {} for {} are needed",
              questions.groundtruth, truth.k, truth.queries, k, range.end);
}

void SweepQueries::warm(CoresView cores, const search::BatchParameters& parameters) const {
  dataset::GroundTruth results;
  for (const VectorView& part : warm_rows) search::run_batch(cores, part, parameters, results);
}

double SweepQueries::probe_seconds(CoresView cores, search::BatchParameters parameters) const {
  parameters.limit_ms = kProbeMs;
  dataset::GroundTruth results;
  const search::BatchOutcome outcome = search::run_batch(cores, rows, parameters, results);
  return outcome.seconds / std::max<double>(1, static_cast<double>(outcome.latency_us.size()));
}

double SweepQueries::recall(const dataset::GroundTruth& found, bool exact) const {
  return dataset::recall_at_k(
      {found.ids.data(), exact ? found.distances.data() : nullptr, rows.count, found.k}, truth, k,
      range.begin);
}

}  // namespace farvec::measure
