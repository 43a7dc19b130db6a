// What the advisor says: a table for people, one JSON object for programs.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/advise/forecast.h"

namespace farvec::measure {

/// All that one run of the advisor found.
struct AdviceReport {
  IndexedFile file;
  Target target;
  GraphBuild recipe;
  std::uint32_t k = 10;
  double recall = 0.95;
  std::vector<std::uint64_t> sample_rows;
  std::size_t queries = 0;
  /// Of the graphs of the last sample, the largest share of vertices that have fewer than half of
  /// their degree in edges.
  double sparse_share = 0;
  std::map<SearchFamily, FamilyModel> models;
  /// The share of a core that the searches had while they were timed. Rates are forecast for a
  /// whole core.
  double core_share = 1;
  std::vector<Forecast> forecasts;  ///< best first
  std::optional<std::size_t> choice;
};

void print_advice(const AdviceReport& report);
/// For programs.
nlohmann::ordered_json advice_json(const AdviceReport& report);

}  // namespace farvec::measure
