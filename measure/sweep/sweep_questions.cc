#include "measure/sweep/sweep_questions.h"

#include <cstring>

#include "base/error.h"

namespace farvec::measure {

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

void check_truth(const SweepQuestions& questions, const dataset::GroundTruth& truth,
                 std::size_t end, std::uint32_t k) {
  if (truth.queries >= end && truth.k >= k) return;
  throw Error("{} has {} neighbours for each of {} queries: {} for {} are needed",
              questions.groundtruth, truth.k, truth.queries, k, end);
}

}  // namespace farvec::measure
