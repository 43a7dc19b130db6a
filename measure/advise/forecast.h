// From trials on samples to the whole data set: counts, computation, sizes, throughput.
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

/// One setting's trials, each on another number of rows, ascending; the last one is timed.
struct SettingTrials {
  Setting setting;
  std::vector<TrialResult> trials;
};

/// Time per unit of work, in `kinds`' order.
struct UnitCosts {
  std::vector<double> ns;
};

/// What a query's units of work are: of a graph, records read and scored, and estimates; of slotted
/// pages, records scored, estimates, and pages read; of clusters, the query itself (with the search
/// of the centroids), clusters, distances, and reads of lists and strays.
std::vector<double> work_units(SearchFamily family, const Counts& counts);

/// What all trials of a family say about the others of it.
struct FamilyModel {
  UnitCosts costs;  ///< over all that were timed; empty when none was
  /// How lists, numbers of clusters and counts grow: by the law that fits those of the samples
  /// best.
  GrowthLaw law = GrowthLaw::power;
};
FamilyModel model_of(SearchFamily family, std::span<const SettingTrials> settings);

/// What the whole index will be like.
struct Forecast {
  Setting setting;
  bool reached = false;  ///< the recall, on every sample; else the rest says nothing but sizes
  bool fits = true;      ///< the budget of memory is enough; if not, nothing is reached
  std::uint32_t parameter = 0;  ///< list, or clusters to probe
  Counts counts{};              ///< per query
  QueryWork work;
  double amplification = 0;            ///< what the memory node holds over the data set
  double compute_dram_per_vector = 0;  ///< bytes that the index keeps, whatever searches it
  /// Bytes that the cores of the prediction keep beside it: buffers of reads, and on a measured
  /// disk all that its searches may take. Slotted pages have them in compute_dram_per_vector.
  double search_dram = 0;
  Prediction prediction;
  std::vector<TrialResult> trials;  ///< what it was carried on from
};

struct Target {
  std::uint64_t rows = 0;       ///< of the whole data set
  std::uint64_t row_bytes = 0;  ///< of the data set's file
  AdviceDevice device;
  std::uint32_t threads = 1;
};

/// Counts grow with the rows as between the trials, by the model's law. Computation grows from the
/// largest trial's as its units of work do, weighed by their costs.
Forecast forecast(const SettingTrials& trials, const FamilyModel& model, const Target& target);

struct Limits {
  double amplification = 0;            ///< 0: none
  double compute_dram_per_vector = 0;  ///< 0: none
};

/// The index to take: of those within kAlike of the highest throughput that the limits allow, the
/// smallest. Nothing when none is allowed or none reaches the recall.
inline constexpr double kAlike = 0.03;
std::optional<std::size_t> choose(std::span<const Forecast> forecasts, const Limits& limits);

}  // namespace farvec::measure
