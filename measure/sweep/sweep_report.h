// Shows what a sweep found: a table for people, JSON lines for programs.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "layout/index/manifest.h"
#include "measure/report/row_range.h"
#include "measure/sweep/sweep_plan.h"

namespace farvec::measure {

/// Holds what all rows of a sweep share.
struct ReportContext {
  const layout::Manifest& manifest;
  std::string index;
  std::uint64_t index_xxh3 = 0;    ///< hash of the checksums of its records
  std::uint64_t queries_xxh3 = 0;  ///< hash of all rows of the file, in stored form
  RowRange queries;
  std::uint32_t k = 10;
  std::uint32_t passes = 5;
  double pass_ms = 300;
  std::optional<std::uint32_t> merge_gap;
  std::size_t index_dram_bytes = 0;  ///< bytes that the index itself keeps; those of the cores are
                                     ///< in SweepSamples
  std::string host;                  ///< describe(Machine)
  std::string command;               ///< command_description()
};

struct TierName {
  std::string name;
  std::string model;
};

/// Prints the titles. The columns depend on the index's kind and layout.
void print_sweep_header(const layout::Manifest& manifest);
/// Prints what a point measured, or why it could not.
void print_sweep_row(const layout::Manifest& manifest, const SweepPoint& point,
                     const std::string& tier, const SweepSamples& samples);

/// Returns all that a row was asked for: a combination that has a row with the same values is not
/// measured again. Values that the row does not have are null.
nlohmann::ordered_json sweep_parameters(const ReportContext& context, const SweepPoint& point,
                                        const std::string& tier);

/// Returns one JSON object without line breaks: the parameters and what was measured, or "error".
std::string sweep_json(const ReportContext& context, const SweepPoint& point, const TierName& tier,
                       const SweepSamples& samples);

}  // namespace farvec::measure
