// Makes the JSON of a row of a sweep of an index on tiers.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "layout/index/manifest.h"
#include "measure/sweep/line_time.h"
#include "measure/sweep/sweep_plan.h"
#include "measure/sweep/sweep_questions.h"

namespace farvec::measure {

/// Holds what all rows of a sweep share.
struct ReportContext {
  const layout::Manifest& manifest;
  const SweepQueries& queries;
  const LineTime& line_time;
  std::string index;
  std::uint64_t index_xxh3 = 0;    ///< hash of the checksums of its records
  std::uint64_t queries_xxh3 = 0;  ///< hash of all rows of the file, in stored form
  std::optional<std::uint32_t> merge_gap;
  std::string second_tier;           ///< has the second copy; empty: each row has its own tier
  std::size_t index_dram_bytes = 0;  ///< bytes that the index itself keeps; those of the cores are
                                     ///< in SweepSamples
};

/// Returns SweepCell::parameters().
nlohmann::ordered_json sweep_parameters(const ReportContext& context, const SweepPoint& point,
                                        const std::string& tier);
/// Adds what was measured.
void add_measured(const ReportContext& context, const SweepSamples& samples,
                  nlohmann::ordered_json& row);

}  // namespace farvec::measure
