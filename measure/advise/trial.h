// One small index: what a search of the wanted recall counts, and how long it computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "measure/advise/device/cost_model.h"
#include "measure/advise/device/device.h"
#include "measure/advise/sample.h"
#include "measure/advise/setting.h"
#include "measure/advise/target.h"
#include "measure/report/statistics.h"
#include "search/core/batch_search.h"
#include "search/core/search_core.h"

namespace farvec::measure {

struct TrialOptions {
  std::uint32_t k = 10;
  double recall = 0.95;
  std::uint32_t width = 3;  ///< of graph searches
  AdviceDevice device;
  /// Rows of the whole data set: times are measured over copies of the index, in turn, that
  /// together hold as many, as far as kMostCopiedBytes go. Small indexes fit the cache, whole ones
  /// do not.
  std::uint64_t whole_rows = 0;
  std::uint32_t passes = 3;  ///< of one call's times
  /// What graphs and clusters are timed with: so many that a pass reads more than the cache holds,
  /// or than there is. Fewer queries, again and again, would find their records there, as no user's
  /// queries do.
  VectorView timing;

  static constexpr std::uint64_t kMostCopiedBytes = std::uint64_t{1} << 30;
};

/// What does not depend on how it is searched.
struct IndexSize {
  double amplification = 0;               ///< records region over the data set
  double compute_dram_per_vector = 0;     ///< bytes; of slotted pages the budget of the whole index
  double stray_bytes = 0;                 ///< of a read that brings one stray
  double list_bytes = 0;                  ///< of a cluster's list, on average
  std::uint32_t most_slots = kMostSlots;  ///< searches in flight that the budget pays for
};

/// Searches that were timed, on one index.
struct Timed {
  Counts counts{};                ///< per query
  std::vector<double> passes_ns;  ///< of one core per query, of each pass
  double processor_seconds = 0;   ///< of all passes
  double wall_seconds = 0;

  double ns() const { return median(passes_ns); }  ///< 0: not yet
};

struct TrialResult {
  std::uint64_t rows = 0;
  IndexSize size;
  std::optional<Reached> reached;  ///< none: the recall is out of reach, or
  bool fits = true;                ///< the budget of memory is too small
  Timed at_target;                 ///< with the list, or number of clusters, of the recall
  Timed at_half;                   ///< with half of it: what more work costs
  double cache_ns = 0;             ///< what copies that do not fit the cache add, at the target

  double whole_ns() const { return at_target.ns() + cache_ns; }
};

/// Searches of one small index.
class Trial {
 public:
  virtual ~Trial() = default;

  /// Size and counts. Throws Error.
  virtual TrialResult count(const dataset::GroundTruth& truth) = 0;
  /// Times the searches of one that reaches the recall, `result`, which keeps the passes of all
  /// calls: call it for all indexes in turn, a few times, so that they share what else the machine
  /// does. Times are processor time of the searching thread, on a device of the same kind (loads,
  /// reads or pages) that has no limits, with all waits hidden: what this processor does for a
  /// query and its reads. Throws Error.
  virtual void time(TrialResult& result) = 0;
  /// What searches of so long a list, or of so many clusters, take on cores with so many slots
  /// beside what count() says: the account that their tiers themselves make of the small index.
  virtual std::size_t search_bytes(std::uint32_t number, std::uint32_t cores,
                                   std::uint32_t slots) const = 0;
};

/// A trial of the setting's index, which lies in `directory`. Throws Error.
std::unique_ptr<Trial> make_trial(const std::filesystem::path& directory, const Setting& setting,
                                  const VectorView& queries, const TrialOptions& options);

/// Adds a pass over so many queries, each of which was searched `repeats` times.
void add_pass(Timed& timed, const search::BatchOutcome& outcome, std::size_t queries,
              std::uint32_t repeats);

/// Counts per query, from the totals of so many queries.
Counts per_query(const search::QueryCounts& totals, std::size_t queries);

/// Queries that a pass of a timing repeats until it lasts long enough.
inline constexpr double kPassSeconds = 0.05;
inline constexpr std::uint32_t kMostList = 4096;
inline constexpr std::uint32_t kTrialSlots = 16;

}  // namespace farvec::measure
