// Tries one small index: what a search of the wanted recall counts, and how long it computes.
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
  std::uint32_t width = 3;  ///< width of graph searches
  AdviceDevice device;
  /// Rows of the whole data set. Times are measured over copies of the index, in turn, that
  /// together hold this many rows, as far as kMostCopiedBytes go: small indexes fit the cache,
  /// whole ones do not.
  std::uint64_t whole_rows = 0;
  std::uint32_t passes = 3;  ///< passes of one call of time()
  /// Queries that graphs and clusters are timed with: enough for a pass to read more than the cache
  /// holds, or more than there is. Fewer queries, again and again, would find their records there,
  /// as no user's queries do.
  VectorView timing;

  static constexpr std::uint64_t kMostCopiedBytes = std::uint64_t{1} << 30;
};

/// Holds the sizes of an index, which do not depend on how it is searched.
struct IndexSize {
  double amplification = 0;               ///< bytes of the records region over those of the data
                                          ///< set
  double compute_dram_per_vector = 0;     ///< bytes; for slotted pages the budget of the whole
                                          ///< index
  double stray_bytes = 0;                 ///< bytes of a read that brings one stray
  double list_bytes = 0;                  ///< bytes of a cluster's list, on average
  std::uint32_t most_slots = kMostSlots;  ///< searches in flight that the budget pays for
};

/// Holds what searches that were timed did, on one index.
struct Timed {
  Counts counts{};                ///< per query
  std::vector<double> passes_ns;  ///< time of one core per query, one entry per pass
  double processor_seconds = 0;   ///< processor time of all passes
  double wall_seconds = 0;

  double ns() const { return median(passes_ns); }  ///< 0: not yet
};

struct TrialResult {
  std::uint64_t rows = 0;
  IndexSize size;
  std::optional<Reached> reached;  ///< none: the recall is out of reach, or `fits` is false
  bool fits = true;                ///< whether the budget of memory is enough
  Timed at_target;                 ///< timed with the list, or number of clusters, of the recall
  Timed at_half;                   ///< timed with half of that: shows what more work costs
  double cache_ns = 0;             ///< what copies that do not fit the cache add, at the target

  double whole_ns() const { return at_target.ns() + cache_ns; }
};

/// Runs searches of one small index.
class Trial {
 public:
  virtual ~Trial() = default;

  /// Counts what a search does, and says how large the index is. Throws Error.
  virtual TrialResult count(const dataset::GroundTruth& truth) = 0;
  /// Times the searches of an index that reaches the recall, and adds their passes to `result`,
  /// which keeps those of all calls. Call it for all indexes in turn, a few times, so that all of
  /// them suffer alike from what else the machine does. Times are processor time of the searching
  /// thread, on a device of the same kind (loads, reads or pages) that has no limits, with all
  /// waits hidden: what this processor does for a query and its reads. Throws Error.
  virtual void time(TrialResult& result) = 0;
  /// Returns the bytes that searches with a list, or a number of clusters, of `number` take on
  /// `cores` cores with `slots` slots each, beside what count() says: the account that their tiers
  /// themselves make of the small index.
  virtual std::size_t search_bytes(std::uint32_t number, std::uint32_t cores,
                                   std::uint32_t slots) const = 0;
};

/// Makes a trial of the setting's index, which is in `directory`. Throws Error.
std::unique_ptr<Trial> make_trial(const std::filesystem::path& directory, const Setting& setting,
                                  const VectorView& queries, const TrialOptions& options);

/// Adds a pass over `queries` queries, each of which was searched `repeats` times.
void add_pass(Timed& timed, const search::BatchOutcome& outcome, std::size_t queries,
              std::uint32_t repeats);

/// Returns the counts per query, from the totals of `queries` queries.
Counts per_query(const search::QueryCounts& totals, std::size_t queries);

/// A pass of a timing repeats its queries until it lasts this long.
inline constexpr double kPassSeconds = 0.05;
inline constexpr std::uint32_t kMostList = 4096;
inline constexpr std::uint32_t kTrialSlots = 16;

}  // namespace farvec::measure
