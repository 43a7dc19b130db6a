// Measures one combination of a sweep: it has the cores, and runs the searches.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/progress.h"
#include "dataset/groundtruth.h"
#include "measure/report/row_range.h"
#include "measure/sweep/line_time.h"
#include "measure/sweep/sweep_plan.h"
#include "search/core/batch_search.h"
#include "tiers/index_on_tier.h"

namespace farvec::measure {

/// Says what the cells of a sweep search for.
struct SweepQueries {
  VectorView rows = {};                    ///< measured
  std::vector<VectorView> warm_rows = {};  ///< rows of the same file that are not measured
  RowRange range = {};                     ///< place of `rows` in the file and the truth
  const dataset::GroundTruth& truth;
  std::uint32_t k = 10;
  double pass_ms = 300;
  std::optional<std::uint32_t> merge_gap = {};
  const LineTime* line_time = nullptr;
  Interruption interrupted = {};

  std::size_t warm_count() const;
};

/// Holds a tier, or says why it could not be opened. Hold it by a pointer: cells keep a reference
/// to it.
struct SweepTier {
  tiers::TierSpecPointer spec;
  std::unique_ptr<tiers::IndexOnTier> open;
  std::string failure;

  std::string name() const { return spec->name(); }
  bool is_dram() const { return name() == "dram"; }
  std::string model() const { return open == nullptr ? "" : open->model(); }
};

/// Measures one point. Call prepare() once, then measure_pass() with 0, 1, ...; every call may
/// throw what its searches do, and ends early when it is interrupted.
///
/// prepare() searches every query once, however long that takes, to find recall and counts. A pass
/// goes on where the one before it stopped, over and over through the queries, until its time is
/// over. Slotted pages are different, because a search finds what the searches before it left in
/// memory. Every pass of them begins with an empty pool, which the warm rows fill, and with the
/// first query, and searches no query twice; the first pass is the search of every query.
class SweepCell {
 public:
  SweepCell(const SweepPoint& point, SweepTier& tier, const SweepQueries& queries);

  void prepare();
  void measure_pass(std::uint32_t pass);
  /// Frees the cores.
  void release() { cores_.clear(); }

  /// Returns the seconds of a search, with all cores together, from a first short run of its own.
  double probe_seconds();
  /// Returns true when a search finds what those before it have left in memory.
  bool pooled() const;
  double query_count() const { return static_cast<double>(queries_.rows.count); }
  /// Returns the number of searches, of the passes and before them, that do not end with the time
  /// of a pass.
  double unbounded_searches(std::uint32_t passes) const;
  /// Returns the number of searches that the choice of slots takes.
  double choosing_searches() const;

  const SweepPoint& point() const { return point_; }
  SweepTier& tier() const { return tier_; }
  SweepSamples& samples() { return samples_; }

 private:
  search::SearchShape shape() const;
  void make_parameters();
  void choose_slots();
  void measure_slots();
  void count();
  void bound_by_memory();
  void fill_pool();
  void add_pass(search::BatchOutcome outcome);
  search::CoreStatistics statistics() const;

  SweepPoint point_;
  SweepTier& tier_;
  const SweepQueries& queries_;
  search::BatchParameters parameters_;
  std::vector<std::unique_ptr<search::SearchCore>> cores_;
  SweepSamples samples_;
};

}  // namespace farvec::measure
