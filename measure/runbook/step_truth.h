// Finds the true neighbours at every search of a runbook: those among the vectors that are there
// then.
#pragma once

#include <cstdint>
#include <string>

#include "attributes/condition.h"
#include "base/types.h"
#include "dataset/groundtruth.h"
#include "layout/attributes/tuple.h"
#include "measure/runbook/runbook.h"

namespace farvec::measure {

/// Says what the truth is computed from.
struct TruthInput {
  VectorView data;  ///< in the type that the files have
  VectorView queries;
  Metric metric = Metric::l2;
  std::uint32_t k = 10;
  /// The attributes of the data's rows; none: all are null.
  layout::TupleView attributes = {};
  attributes::ConditionPointer condition = nullptr;  ///< what neighbours meet; null: nothing
  /// The folder of files with the names of big-ann-benchmarks, `step<N>.gt<K>`. Those that are
  /// there are read, and those that are missing are written, with the condition in `filter.txt`.
  /// When it is empty, all are computed and none is kept.
  std::string folder;
  unsigned threads = 0;
  bool quiet = false;
};

/// Returns the ids of the k nearest live vectors of every query that meet the condition, or of as
/// many as there are. Throws Error when a file of the folder is damaged, has other queries or fewer
/// neighbours, or names vectors that are not meant.
dataset::GroundTruth truth_of_step(const TruthInput& input, const RunbookStep& step,
                                   const LiveSet& live);

}  // namespace farvec::measure
