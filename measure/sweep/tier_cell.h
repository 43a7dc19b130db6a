// Measures one combination of a sweep of an index on tiers: it has the cores, and runs the
// searches.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "measure/sweep/sweep_cell.h"
#include "measure/sweep/sweep_plan.h"
#include "measure/sweep/sweep_report.h"
#include "search/core/batch_search.h"
#include "tiers/index_on_tier.h"

namespace farvec::measure {

/// Holds a tier, or says why it could not be opened. Hold it by a pointer: cells keep a reference
/// to it.
struct SweepTier {
  tiers::TierSpecPointer spec;
  std::unique_ptr<tiers::IndexOnTier> open;
  std::string failure;

  std::string name() const { return spec->name(); }
  bool is_dram() const { return spec->traits().dram; }
  std::string model() const { return open == nullptr ? "" : open->model(); }
};

/// prepare() searches every query once, however long that takes, to find recall and counts. A pass
/// goes on where the one before it stopped, over and over through the queries, until its time is
/// over. Slotted pages are different, because a search finds what the searches before it left in
/// memory. Every pass of them begins with an empty pool, which the warm rows fill, and with the
/// first query, and searches no query twice; the first pass is the search of every query.
class TierCell final : public SweepCell {
 public:
  TierCell(const SweepPoint& point, SweepTier& tier, const ReportContext& context);

  std::size_t group() const override { return point_.group; }
  nlohmann::ordered_json parameters() const override {
    return sweep_parameters(context_, point_, tier_.name());
  }

  void prepare() override;
  void measure_pass(std::uint32_t pass) override;
  void release() override { cores_.clear(); }

  std::string pace() const override;
  double work() const override;
  double probe_seconds() override;
  double seconds(double search_seconds) const override;

  /// Computation alone bounds the rates: what the same search does on dram.
  const std::vector<double>* bounding_rates() const override;
  void bound_by(const std::vector<double>& rates) override;

  std::span<const Column> columns() const override;
  std::vector<std::string> table_cells() const override;
  void add_facts(nlohmann::ordered_json& row) const override;

 private:
  /// Returns true when a search finds what those before it have left in memory.
  bool pooled() const;
  search::SearchShape shape() const;
  void make_parameters();
  void choose_slots();
  void measure_slots();
  double unbounded_searches() const;
  void count();
  void bound_by_memory();
  void fill_pool();
  search::CoreStatistics statistics() const;

  SweepPoint point_;
  SweepTier& tier_;
  const ReportContext& context_;
  const SweepQueries& queries_;
  search::BatchParameters parameters_;
  std::vector<std::unique_ptr<search::SearchCore>> cores_;
  SweepSamples samples_;
};

}  // namespace farvec::measure
