#include "measure/advise/forecast.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/check.h"
#include "measure/advise/growth.h"

namespace farvec::measure {
namespace {

/// The rounding error that sums of logarithms may add to a whole number.
constexpr double kRounding = 1e-6;

bool reached(const SettingTrials& trials) {
  return std::all_of(trials.trials.begin(), trials.trials.end(),
                     [](const TrialResult& trial) { return trial.reached.has_value(); });
}

/// Returns the value of `of` for each trial. All of them reach the recall.
template <typename Of>
std::vector<SamplePoint> points_of(const SettingTrials& trials, const Of& of) {
  std::vector<SamplePoint> points;
  for (const TrialResult& trial : trials.trials) {
    points.push_back({static_cast<double>(trial.rows), of(*trial.reached)});
  }
  return points;
}

double parameter_of(const Reached& reached) {
  return reached.parameter;
}

GrowthLaw law_of(SearchFamily family, std::span<const SettingTrials> settings) {
  std::vector<std::vector<SamplePoint>> series;
  for (const SettingTrials& trials : settings) {
    if (family_of(trials.setting) != family || !reached(trials)) continue;
    series.push_back(points_of(trials, parameter_of));
    for (std::size_t i = 0; i < kCounts; ++i) {
      series.push_back(
          points_of(trials, [i](const Reached& reached) { return reached.counts[i]; }));
    }
  }
  return fitting_law(series);
}

/// Returns how often a search waits. A graph's search waits once per hop, or for every page where
/// the graph is in slotted pages, whose hops often find their records in memory. A search of
/// clusters waits for groups and lists, and then for strays.
double waits(const Setting& setting, const Counts& counts) {
  if (setting.is_slotted()) return counts[kReads];
  if (setting.is_graph()) return counts[kHops];
  return counts[kStrayReads] > 0 ? 2 : 1;
}

std::array<ReadKind, 3> read_kinds(const Setting& setting, const Counts& counts,
                                   const IndexSize& size) {
  if (setting.is_graph()) return {{{counts[kReads], counts[kBytes]}, {}, {}}};
  const double strays = std::min(counts[kStrayReads] * size.stray_bytes, counts[kBytes]);
  const double lists = std::min(counts[kListReads] * size.list_bytes, counts[kBytes] - strays);
  // Groups whose list is before them, or that have none, have what is left.
  ReadKind groups{counts[kGroupReads], counts[kBytes] - strays - lists};
  ReadKind stray_reads{counts[kStrayReads], strays};
  if (groups.reads == 0) {  // the strays share reads
    stray_reads.bytes += groups.bytes;
    groups.bytes = 0;
  }
  return {{groups, ReadKind{counts[kListReads], lists}, stray_reads}};
}

double address_growth(const SettingTrials& trials, const Target& target) {
  // Three bytes per address suffice below 2^24 records.
  constexpr double kThreeByteRecords = 1 << 24;
  const TrialResult& largest = trials.trials.back();
  const bool coupled = trials.setting.layout == layout::ClusterLayoutKind::coupled;
  if (trials.setting.is_graph() || coupled) return 0;
  if (static_cast<double>(target.rows) < kThreeByteRecords ||
      static_cast<double>(largest.rows) >= kThreeByteRecords) {
    return 0;
  }
  const double addresses_per_vector =
      largest.size.list_bytes / 3 / trials.setting.partition.cluster_rows;
  return addresses_per_vector / static_cast<double>(target.row_bytes);
}

/// An inline graph keeps the same few vectors in DRAM, however many rows there are.
double compute_dram_per_vector(const SettingTrials& trials, const Target& target) {
  const TrialResult& largest = trials.trials.back();
  const double dram = largest.size.compute_dram_per_vector;
  if (!trials.setting.is_inline()) return dram;
  return dram * static_cast<double>(largest.rows) / static_cast<double>(target.rows);
}

bool allowed(const Forecast& forecast, const Limits& limits) {
  return forecast.reached &&
         (limits.amplification == 0 || forecast.amplification <= limits.amplification) &&
         (limits.compute_dram_per_vector == 0 ||
          forecast.compute_dram_per_vector <= limits.compute_dram_per_vector);
}

}  // namespace

std::vector<double> work_units(SearchFamily family, const Counts& counts) {
  switch (family) {
    case SearchFamily::graph:
    case SearchFamily::inlined:
      return {counts[kReads], counts[kEstimates]};
    case SearchFamily::slotted:
      return {counts[kDistances], counts[kEstimates], counts[kReads]};
    case SearchFamily::cluster:
      break;
  }
  return {1, counts[kClusters], counts[kDistances], counts[kListReads] + counts[kStrayReads]};
}

FamilyModel model_of(SearchFamily family, std::span<const SettingTrials> settings) {
  std::vector<WorkTime> samples;
  for (const SettingTrials& setting : settings) {
    if (family_of(setting.setting) != family) continue;
    for (const TrialResult& trial : setting.trials) {
      for (const Timed& timed : {std::cref(trial.at_target), std::cref(trial.at_half)}) {
        if (timed.ns() > 0) samples.push_back({work_units(family, timed.counts), timed.ns()});
      }
    }
  }
  FamilyModel model;
  model.law = law_of(family, settings);
  if (!samples.empty()) model.costs.ns = fit_unit_costs(samples);
  return model;
}

Forecast forecast(const SettingTrials& trials, const FamilyModel& model, const Target& target) {
  FARVEC_CHECK(!trials.trials.empty());
  const TrialResult& largest = trials.trials.back();
  Forecast result;
  result.setting = trials.setting;
  result.trials = trials.trials;
  result.amplification = largest.size.amplification + address_growth(trials, target);
  result.compute_dram_per_vector = compute_dram_per_vector(trials, target);
  result.fits = std::all_of(trials.trials.begin(), trials.trials.end(),
                            [](const TrialResult& trial) { return trial.fits; });
  result.reached = reached(trials);
  if (!result.reached) return result;
  const auto grown = [&](const auto& of) {
    return extrapolate(points_of(trials, of), model.law, static_cast<double>(target.rows));
  };
  result.parameter = static_cast<std::uint32_t>(std::ceil(grown(parameter_of) - kRounding));
  for (std::size_t i = 0; i < kCounts; ++i) {
    result.counts[i] = grown([i](const Reached& reached) { return reached.counts[i]; });
  }
  result.work.kinds = read_kinds(trials.setting, result.counts, largest.size);
  result.work.most_slots = largest.size.most_slots;
  result.work.waits = waits(trials.setting, result.counts);
  const SearchFamily family = family_of(trials.setting);
  const double timed = time_of(work_units(family, largest.at_target.counts), model.costs.ns);
  const double whole = time_of(work_units(family, result.counts), model.costs.ns);
  for (const ReadKind& kind : result.work.kinds) {
    if (kind.reads == 0) continue;
    result.work.kernel_ns +=
        kind.reads * target.device.kernel_ns(kind.mean_bytes(), result.work.reads_per_wait());
  }
  if (!trials.setting.is_slotted())
    result.work.copy_ns = target.device.copy_ns(result.work.bytes());
  result.work.compute_ns = largest.whole_ns() * (timed > 0 ? whole / timed : 1) +
                           result.work.kernel_ns + result.work.copy_ns;
  result.prediction = predict(result.work, target.device, target.threads);
  return result;
}

std::optional<std::size_t> choose(std::span<const Forecast> forecasts, const Limits& limits) {
  double best = 0;
  for (const Forecast& forecast : forecasts) {
    if (allowed(forecast, limits)) best = std::max(best, forecast.prediction.qps);
  }
  std::optional<std::size_t> chosen;
  for (std::size_t i = 0; i < forecasts.size(); ++i) {
    if (!allowed(forecasts[i], limits)) continue;
    if (forecasts[i].prediction.qps < (1 - kAlike) * best) continue;
    if (!chosen || forecasts[i].amplification < forecasts[*chosen].amplification) chosen = i;
  }
  return chosen;
}

}  // namespace farvec::measure
