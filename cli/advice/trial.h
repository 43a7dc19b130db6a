// One small index: what a search of the wanted recall counts, and how long it computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "cli/advice/sample.h"
#include "cli/advice/setting.h"
#include "cli/advice/target.h"
#include "transport/emulated/device_model.h"

namespace farvec::cli {

struct TrialOptions {
  std::uint32_t k = 10;
  double recall = 0.95;
  std::uint32_t width = 3;  ///< of graph searches
  transport::DeviceModel device;
  /// Rows of the whole data set: times are measured over copies of the index, in turn, that
  /// together hold as many, as far as kMostCopiedBytes go. Small indexes fit the cache, whole ones
  /// do not.
  std::uint64_t whole_rows = 0;
  std::uint32_t passes = 3;  ///< of one call's times; the shortest counts

  static constexpr std::uint64_t kMostCopiedBytes = std::uint64_t{1} << 30;
};

/// What does not depend on how it is searched.
struct IndexSize {
  double amplification = 0;            ///< records region over the data set
  double compute_dram_per_vector = 0;  ///< bytes
  double stray_bytes = 0;              ///< of a read that brings one stray
  double list_bytes = 0;               ///< of a cluster's list, on average
};

/// Searches that were timed, on one index in the cache.
struct Timed {
  Counts counts{};  ///< per query
  double ns = 0;    ///< of one core per query; 0: not yet
};

struct TrialResult {
  std::uint64_t rows = 0;
  IndexSize size;
  std::optional<Reached> reached;  ///< none: the recall is out of reach
  Timed at_target;                 ///< with the list, or number of clusters, of the recall
  Timed at_half;                   ///< with half of it: what more work costs
  double cache_ns = 0;             ///< what copies that do not fit the cache add, at the target

  double whole_ns() const { return at_target.ns + cache_ns; }
};

/// Size and counts. Throws Error.
TrialResult count_index(const std::filesystem::path& directory, const Sample& sample,
                        const VectorView& queries, const TrialOptions& options);

/// Times the searches of one that reaches the recall, `result`, which keeps the shortest of all
/// calls: call it for all indexes in turn, a few times, so that they share what else the machine
/// does. Times are processor time of the searching thread, on a modelled device of the same kind
/// (loads or reads) that has no limits, with all waits hidden: what this processor does for a query
/// and its reads. Throws Error.
void time_index(const std::filesystem::path& directory, const VectorView& queries,
                const TrialOptions& options, TrialResult& result);

}  // namespace farvec::cli
