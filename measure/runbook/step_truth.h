// The true neighbours at every search of a runbook: of the vectors that are there then.
#pragma once

#include <cstdint>
#include <string>

#include "base/types.h"
#include "dataset/groundtruth.h"
#include "measure/runbook/runbook.h"

namespace farvec::measure {

/// What the truth is of.
struct TruthInput {
  VectorView data;  ///< as the files have them
  VectorView queries;
  Metric metric = Metric::l2;
  std::uint32_t k = 10;
  /// Files `step<N>.gt<K>` as big-ann-benchmarks names them are taken from here, and those that are
  /// missing are written; empty: all are computed and none is kept.
  std::string folder;
  unsigned threads = 0;
  bool quiet = false;
};

/// The k nearest live vectors of every query, by their ids. Throws Error when a file of the folder
/// is damaged, or has other queries or fewer neighbours.
dataset::GroundTruth truth_of_step(const TruthInput& input, const RunbookStep& step,
                                   const LiveSet& live);

}  // namespace farvec::measure
