// Shows the steps of a runbook: each as a row of a table, as a line of JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measure/runbook/runbook_run.h"

namespace farvec::measure {

/// Says what was run.
struct RunbookFacts {
  std::string path;     ///< path of the runbook
  std::string dataset;  ///< the runbook's name for it
  std::uint32_t k = 10;
};

void print_step_header();
void print_step(const StepOutcome& outcome);
nlohmann::ordered_json step_json(const StepOutcome& outcome);

/// Returns the rate of all steps of a kind together.
double rate_of(const std::vector<StepOutcome>& steps, StepKind kind);
/// Returns a summary of all steps.
nlohmann::ordered_json summary_json(const RunbookFacts& facts,
                                    const std::vector<StepOutcome>& steps,
                                    const RunbookIndex& index);

}  // namespace farvec::measure
