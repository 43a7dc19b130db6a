// Measures recall, throughput and latency of an index over every combination of parameters.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "measure/sweep/sweep_file.h"
#include "measure/sweep/sweep_questions.h"
#include "measure/sweep/sweep_run.h"
#include "rpc/tls_flags.h"
#include "search/core/disk_options.h"
#include "tiers/tier_spec.h"

namespace farvec::measure {

/// Says what is varied, and over what. Members for other kinds of index are ignored.
struct SweepOptions {
  std::string index;  ///< its directory
  SweepQuestions questions;
  std::string range;  ///< A:B, the queries that are measured; empty: all
  std::vector<std::uint32_t> lists = {20, 40, 80, 160};
  std::vector<std::uint32_t> widths = {1};
  std::vector<std::uint32_t> probes = {1, 4, 16, 64};
  std::vector<bool> dedups = {true};
  float prune_ratio = std::numeric_limits<float>::infinity();
  std::optional<std::uint32_t> merge_gap = {};
  std::vector<std::uint32_t> slots = {0};  ///< 0: chosen by measuring
  std::vector<std::uint32_t> threads = {1};
  std::vector<std::size_t> cache_bytes = {0};  ///< bytes for all cores of a combination
  std::vector<tiers::TierSpecPointer> tiers;
  /// Where the second copy of an index with fewer bits than its data is read from; null: the tier.
  tiers::TierSpecPointer second_tier = nullptr;
  search::DiskArguments disk = {};  ///< lists
  std::string filter = {};  ///< the condition that results meet; empty: every row may be one
  std::uint32_t k = 10;
  std::uint32_t passes = 5;
  double pass_ms = 300;
  double line_ns = 0;  ///< 0: measured
  rpc::TlsFiles tls = {};
  SweepManner manner = {};
};

/// Writes a row for each combination that the file does not have, and returns all rows of the file.
/// A combination that cannot run has a row that says why. Throws Error, also when none can run, and
/// WorkInterrupted.
std::vector<nlohmann::ordered_json> sweep(const SweepOptions& options, const SweepFiles& files);

/// Throws an Error that names the option.
void check_passes(std::uint32_t k, std::uint32_t passes, double pass_ms);

}  // namespace farvec::measure
