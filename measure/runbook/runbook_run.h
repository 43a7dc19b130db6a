// Runs a runbook from its first step to its last.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/types.h"
#include "measure/runbook/runbook.h"
#include "measure/runbook/runbook_index.h"
#include "measure/runbook/step_truth.h"

namespace farvec::measure {

/// Says what an index did that was built at once from what is live, and searched with the same
/// queries: the bound.
struct RebuiltOutcome {
  double recall = 0;
  double build_seconds = 0;
  double searches_per_s = 0;
};

/// Says what one step did.
struct StepOutcome {
  RunbookStep step;
  std::uint64_t live = 0;        ///< vectors that are live after it
  std::uint64_t operations = 0;  ///< inserts, deletes, replacements or searches
  double seconds = 0;            ///< time of the index, without the truth
  DiskBytes disk = {};           ///< read and written in it
  std::uint64_t stored_bytes = 0;
  double recall = 0;  ///< recall of a search
  double p50_us = 0;
  double p99_us = 0;
  std::optional<RebuiltOutcome> rebuilt = {};

  double rate() const { return seconds > 0 ? static_cast<double>(operations) / seconds : 0; }
};

struct RunOptions {
  std::function<void(const StepOutcome&)> told;
  /// After this number of searches the index is also rebuilt, where its kind can be; 0: never.
  std::uint32_t rebuild_every = 0;
  Interruption interrupted = {};  ///< the same one that searches of the index look at
};

/// Runs the steps in order and passes each outcome to `options.told` when the step is done.
/// `input.data` holds the vectors, in the type in which the index takes them. Throws what the index
/// throws, WorkInterrupted, and an Error that names the step where rows to delete are not in it.
std::vector<StepOutcome> run_runbook(const Runbook& runbook, const TruthInput& input,
                                     RunbookIndex& index, const RunOptions& options);

/// Returns the mean recall over the searches; 0 for none.
double mean_recall(const std::vector<StepOutcome>& steps);

}  // namespace farvec::measure
