// What a sweep searches for: of files, or of whoever has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/types.h"
#include "dataset/groundtruth.h"
#include "dataset/vector_set.h"

namespace farvec::measure {

struct SweepQuestions {
  std::string queries;      ///< a file, or what messages call the rows
  std::string groundtruth;  ///< the same of the true neighbours
  /// In place of the files. The rows are of the data set's type, and outlive the sweep.
  std::optional<VectorView> rows = {};
  std::optional<dataset::GroundTruth> truth = {};

  /// As the data set has them. Throws Error.
  dataset::VectorSet load_rows(Metric metric) const;
  /// Throws Error.
  dataset::GroundTruth load_truth() const;
};

/// Throws Error when the truth is not of the `end` first queries, with `k` neighbours for each.
void check_truth(const SweepQuestions& questions, const dataset::GroundTruth& truth,
                 std::size_t end, std::uint32_t k);

}  // namespace farvec::measure
