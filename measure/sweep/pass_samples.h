// Holds what the passes of a combination measured, and shows it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "search/core/batch_search.h"

namespace farvec::measure {

struct PassSamples {
  /// Adds a pass, unless it was interrupted before its first search was done.
  void add_pass(search::BatchOutcome outcome);
  /// Returns the cells that every table has: recall, rates and latencies.
  std::vector<std::string> cells() const;
  /// Adds the same to a row.
  void add_to(nlohmann::ordered_json& row) const;

  double recall = 0;
  std::vector<double> qps;
  std::vector<double> processor_us;  ///< time of the searching threads, per query
  std::vector<double> mean_us;
  std::vector<double> p50_us;
  std::vector<double> p99_us;
};

std::string one_decimal(double value);

}  // namespace farvec::measure
