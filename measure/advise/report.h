// Shows what the advisor found: as a table for people, as one JSON object for programs.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/advise/few_bits.h"
#include "measure/advise/forecast.h"

namespace farvec::measure {

/// Holds all that one run of the advisor found for one device.
struct AdviceReport {
  IndexedFile file;
  Target target;
  GraphBuild recipe;
  std::uint32_t k = 10;
  double recall = 0.95;
  std::vector<std::uint64_t> sample_rows;
  std::size_t queries = 0;
  /// The largest share, over the graphs of the last sample, of vertices that have fewer edges than
  /// half of the graph's degree.
  double sparse_share = 0;
  std::map<SearchFamily, FamilyModel> models;
  /// The share of a core that the searches had while they were timed. Rates are forecast for a
  /// whole core.
  double core_share = 1;
  std::vector<Forecast> forecasts;  ///< best first
  std::vector<FewBits> few_bits;    ///< indexes with fewer bits than the data, and a second copy
  std::optional<std::size_t> choice;
};

void print_advice(const AdviceReport& report);
/// Returns the report for programs.
nlohmann::ordered_json advice_json(const AdviceReport& report);

}  // namespace farvec::measure
