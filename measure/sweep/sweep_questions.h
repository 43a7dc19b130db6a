// Gives a sweep its queries and their true neighbours, from files or from the caller's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attributes/condition.h"
#include "base/progress.h"
#include "base/types.h"
#include "dataset/groundtruth.h"
#include "dataset/vector_set.h"
#include "measure/report/row_range.h"
#include "search/core/batch_search.h"

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

using CoresView = std::span<const std::unique_ptr<search::SearchCore>>;

/// Holds what the cells of a sweep search for, and how often.
struct SweepQueries {
  /// `stored` are the rows of the questions in the index's stored form. `range_text` is the value
  /// of --queries-range. Throws Error when they do not fit each other.
  SweepQueries(const SweepQuestions& questions, dataset::VectorSet stored,
               const std::string& range_text, std::uint32_t neighbours);
  SweepQueries(const SweepQueries&) = delete;
  SweepQueries& operator=(const SweepQueries&) = delete;

  std::size_t warm_count() const { return all.count() - rows.count; }
  /// Searches the rows that are not measured.
  void warm(CoresView cores, const search::BatchParameters& parameters) const;
  /// Returns the seconds of a search, with all cores together, from a short run.
  double probe_seconds(CoresView cores, search::BatchParameters parameters) const;
  /// Returns the recall of what was found for the measured rows. `exact` says whether the distances
  /// are those to the data set's vectors.
  double recall(const dataset::GroundTruth& found, bool exact) const;

  const dataset::GroundTruth truth;
  const dataset::VectorSet all;
  const RowRange range;                    ///< place of `rows` in the file and the truth
  const VectorView rows;                   ///< measured
  std::vector<VectorView> warm_rows = {};  ///< rows of the same file that are not measured
  const std::uint32_t k;
  std::uint32_t passes = 1;
  double pass_ms = 0;  ///< 0: a pass searches every query once
  Interruption interrupted = {};
  std::string filter = {};                      ///< the condition's text
  attributes::ConditionPointer condition = {};  ///< null: every row may be a result
};

}  // namespace farvec::measure
