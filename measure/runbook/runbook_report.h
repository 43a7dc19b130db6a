// How the steps of a runbook are shown: a row of a table, a line of JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measure/runbook/runbook_run.h"

namespace farvec::measure {

/// What was run.
struct RunbookFacts {
  std::string path;     ///< of the runbook
  std::string dataset;  ///< as the runbook names it
  std::uint32_t k = 10;
};

void print_step_header();
void print_step(const StepOutcome& outcome);
nlohmann::ordered_json step_json(const StepOutcome& outcome);

/// Rate of all steps of a kind together.
double rate_of(const std::vector<StepOutcome>& steps, StepKind kind);
/// Of all steps.
nlohmann::ordered_json summary_json(const RunbookFacts& facts,
                                    const std::vector<StepOutcome>& steps,
                                    const ChangingIndex& index);

}  // namespace farvec::measure
