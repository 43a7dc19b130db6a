// Carries trials on samples on to the whole data set: counts, computation, sizes, throughput.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "measure/advise/device/cost_model.h"
#include "measure/advise/growth.h"
#include "measure/advise/setting.h"
#include "measure/advise/trial.h"

namespace farvec::measure {

/// Holds one setting's trials, each on another number of rows, in ascending order; the last one is
/// timed.
struct SettingTrials {
  Setting setting;
  std::vector<TrialResult> trials;
};

/// Holds the time per unit of work, in the order of work_units().
struct UnitCosts {
  std::vector<double> ns;
};

/// Returns a query's units of work. For a graph they are records read and scored, and estimates.
/// For slotted pages they are records scored, estimates, and pages read. For clusters they are the
/// query itself (with the search of the centroids), clusters, distances, and reads of lists and
/// strays.
std::vector<double> work_units(SearchFamily family, const Counts& counts);

/// Holds what all trials of a family together say about each of them.
struct FamilyModel {
  UnitCosts costs;  ///< fitted over all trials that were timed; empty when none was
  /// How lists, numbers of clusters and counts grow: by the law that fits those of the samples
  /// best.
  GrowthLaw law = GrowthLaw::power;
};
FamilyModel model_of(SearchFamily family, std::span<const SettingTrials> settings);

/// Says what the whole index will be like.
struct Forecast {
  Setting setting;
  bool reached = false;  ///< whether every sample reached the recall; else the rest says nothing
                         ///< but sizes
  bool fits = true;      ///< whether the budget of memory is enough; if not, nothing is reached
  std::uint32_t parameter = 0;  ///< list, or clusters to probe
  Counts counts{};              ///< per query
  QueryWork work;
  double amplification = 0;            ///< what the memory node holds, as a multiple of the data
                                       ///< set's bytes
  double compute_dram_per_vector = 0;  ///< bytes that the index keeps, whichever search uses it
  /// Bytes that the cores of the prediction keep beside it: buffers of reads, and on a measured
  /// disk all that its searches may take. For slotted pages compute_dram_per_vector includes them.
  double search_dram = 0;
  Prediction prediction;
  std::vector<TrialResult> trials;  ///< the trials that it was carried on from
};

struct Target {
  std::uint64_t rows = 0;       ///< rows of the whole data set
  std::uint64_t row_bytes = 0;  ///< bytes of a row of the data set's file
  AdviceDevice device;
  std::uint32_t threads = 1;
};

/// Forecasts the whole index. Counts grow with the rows as they grow between the trials, by the
/// model's law. Computation grows from the largest trial's as its units of work do, weighed by
/// their costs.
Forecast forecast(const SettingTrials& trials, const FamilyModel& model, const Target& target);

struct Limits {
  double amplification = 0;            ///< 0: none
  double compute_dram_per_vector = 0;  ///< 0: none
};

/// Chooses the index to take: the smallest of those that the limits allow and that are within
/// kAlike of the highest throughput. Returns nothing when none is allowed or none reaches the
/// recall.
inline constexpr double kAlike = 0.03;
std::optional<std::size_t> choose(std::span<const Forecast> forecasts, const Limits& limits);

}  // namespace farvec::measure
