// Gives a sweep its queries and their true neighbours, from files or from the caller's memory.
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
  std::string groundtruth;  ///< the same for the true neighbours
  /// They replace the files. The rows are of the data set's type, and must outlive the sweep.
  std::optional<VectorView> rows = {};
  std::optional<dataset::GroundTruth> truth = {};

  /// Returns the queries in the data set's type. Throws Error.
  dataset::VectorSet load_rows(Metric metric) const;
  /// Returns the true neighbours. Throws Error.
  dataset::GroundTruth load_truth() const;
};

/// Throws Error when the truth does not have `k` neighbours for each of the `end` first queries.
void check_truth(const SweepQuestions& questions, const dataset::GroundTruth& truth,
                 std::size_t end, std::uint32_t k);

}  // namespace farvec::measure
