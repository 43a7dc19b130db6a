#include "measure/advise/advisor.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/progress.h"
#include "base/stored_form.h"
#include "dataset/vector_file.h"
#include "indexing/code_bits.h"
#include "measure/advise/device/measured_disk.h"
#include "measure/advise/sample_plan.h"
#include "measure/advise/small_index.h"
#include "measure/report/row_range.h"
#include "quantization/rabitq.h"
#include "search/core/queries.h"

namespace farvec::measure {
namespace {

namespace fs = std::filesystem;

/// Rounds in each of which all indexes are timed, in turn.
constexpr std::uint32_t kRounds = 3;
/// The most vectors that they are timed with.
constexpr std::size_t kMostTimed = 20'000;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void check(const AdviceOptions& options) {
  if (!(options.recall > 0 && options.recall < 1)) {
    throw Error("--recall {} is out of range: use more than 0 and less than 1", options.recall);
  }
  if (!(options.disk_seconds > 0)) throw Error("--disk-seconds must be more than 0");
  if (options.k == 0) throw Error("--k must be at least 1");
  if (options.threads == 0) throw Error("--threads must be at least 1");
  if (options.devices.empty()) throw Error("no device is given");
}

/// Returns processor time over wall time while searches were timed; 1 when none was.
double core_share(const std::vector<SettingTrials>& settings) {
  double processor = 0;
  double wall = 0;
  for (const SettingTrials& trials : settings) {
    for (const TrialResult& trial : trials.trials) {
      processor += trial.at_target.processor_seconds + trial.at_half.processor_seconds;
      wall += trial.at_target.wall_seconds + trial.at_half.wall_seconds;
    }
  }
  return wall > 0 ? std::min(processor / wall, 1.0) : 1;
}

/// What was tried for one device.
struct DeviceTrials {
  TrialOptions options;
  std::unique_ptr<MeasuredDisk> disk;   ///< null: a model
  std::vector<SettingTrials> settings;  ///< those that suit it, in the advisor's order
};

class Advisor {
 public:
  explicit Advisor(AdviceOptions options)
      : options_(std::move(options)), queries_(load_query_set()) {
    build_ = {options_.recipe, options_.seed, 0, options_.graph_layouts, options_.interrupted};
    settings_ = list_settings();
    for (const DeviceChoice& choice : options_.devices) {
      TrialOptions trial;
      trial.k = options_.k;
      trial.recall = options_.recall;
      trial.width = options_.recipe.width;
      trial.whole_rows = rows_;
      auto disk = measure(choice);
      trial.device = disk ? disk->device() : AdviceDevice{choice.model, {}, 1, {}};
      devices_.push_back({trial, std::move(disk), trials_for(trial.device)});
    }
  }

  std::vector<AdviceReport> run() {
    count_samples();
    time_all();
    std::vector<AdviceReport> reports;
    for (DeviceTrials& device : devices_) {
      if (device.disk) {
        device.disk->measure(options_.interrupted);
        device.options.device = device.disk->device();
      }
      reports.push_back(look_ahead(device));
    }
    return reports;
  }

 private:
  /// Returns the disk after a first measurement; null for a model.
  std::unique_ptr<MeasuredDisk> measure(const DeviceChoice& choice) const {
    if (choice.disk.empty()) return nullptr;
    auto disk =
        std::make_unique<MeasuredDisk>(DiskTarget{choice.disk, options_.disk_bytes, options_.quiet},
                                       options_.threads, options_.disk_seconds);
    disk->measure(options_.interrupted);
    return disk;
  }

  dataset::VectorSet load_query_set() {
    const auto reader = dataset::open_vectors(options_.file.path);
    const dataset::VectorFileInfo& info = reader->info();
    check(options_);
    rows_ = info.count;
    options_.file.row_bytes = info.row_bytes();
    if (options_.sample == 0) options_.sample = default_sample(rows_, info.row_bytes());
    options_.sample = std::min(options_.sample, rows_);
    least_rows_ = std::max<std::uint64_t>(kLeastRows, 10u * options_.k);
    if (options_.sample < least_rows_ * kSampleStep) {
      throw Error("{} rows of '{}' are too few to learn from: {} are needed", options_.sample,
                  info.path, least_rows_ * kSampleStep);
    }
    require_metric_fits(options_.file.metric, info.type);
    if (info.type == ElementType::b1) leave_out_codes();
    layout::Manifest manifest;
    manifest.metric = options_.file.metric;
    manifest.source_type = info.type;
    manifest.stored_type = stored_type(manifest.metric, info.type);
    manifest.dimension = info.dimension;
    dataset::VectorSet queries = search::load_queries(options_.queries, search::form_of(manifest));
    const RowRange range = parse_range(options_.queries_range, queries.count(), "--queries-range");
    if (range.end - range.begin < kLeastQueries) {
      throw Error("{} queries of '{}' are too few to tell a recall: {} are needed",
                  range.end - range.begin, options_.queries, kLeastQueries);
    }
    range_ = range;
    return queries;
  }

  /// Leaves out what cannot be built of bits: they have no codes.
  void leave_out_codes() {
    indexing::require_codes_fit(ElementType::b1, layout::LayoutKind::csr, options_.recipe.code_bits,
                                "--code-bits");
    options_.recipe.code_bits = quantization::kWholeVectors;
    std::erase(options_.graph_layouts, layout::LayoutKind::inlined);
    std::erase(options_.layouts, layout::ClusterLayoutKind::coded);
  }

  VectorView queries() const { return rows_in(queries_.view(), range_); }

  VectorView some_queries() const { return thin_out(queries(), options_.most_queries); }

  /// Lists graphs, then partitions, each with all its layouts.
  std::vector<Setting> list_settings() {
    std::vector<Setting> settings;
    for (const std::uint32_t degree : options_.degrees) add_graphs(degree, settings);
    for (const std::uint32_t rows : options_.cluster_rows) {
      for (const std::uint32_t replicas : options_.replicas)
        partitions_.push_back({rows, replicas});
    }
    for (const Partition& partition : partitions_) {
      for (const layout::ClusterLayoutKind kind : options_.layouts) {
        settings.push_back({layout::IndexKind::cluster, 0, partition, kind});
      }
    }
    if (settings.empty()) throw Error("no index is left to compare: give degrees or clusters");
    return settings;
  }

  void add_graphs(std::uint32_t degree, std::vector<Setting>& settings) const {
    for (const layout::LayoutKind kind : options_.graph_layouts) {
      Setting setting;
      setting.degree = degree;
      setting.graph_layout = kind;
      if (!setting.is_slotted()) {
        settings.push_back(setting);
        continue;
      }
      for (const double percent : options_.memory_percents) {
        setting.memory_percent = percent;
        settings.push_back(setting);
      }
    }
  }

  std::vector<SettingTrials> trials_for(const AdviceDevice& device) const {
    std::vector<SettingTrials> trials;
    for (const Setting& setting : settings_) {
      if (suits(setting, device)) trials.push_back({setting, {}});
    }
    if (trials.empty()) {
      throw Error("no index is left to compare on {}: slotted pages are for disks",
                  device.model.name);
    }
    return trials;
  }

  /// Counts on ascending samples; the last one may be cut when those before took long.
  void count_samples() {
    const auto largest =
        sample_file(options_.file.path, options_.sample, options_.seed, options_.file.metric);
    const auto begin = Clock::now();
    double last_seconds = 0;
    for (std::uint64_t rows : sample_sizes(largest.count(), least_rows_)) {
      if (!sample_rows_.empty()) {
        const double left = 60 * options_.most_minutes - seconds_since(begin);
        const double affordable = static_cast<double>(sample_rows_.back()) * left / last_seconds;
        rows = cut_sample(rows, sample_rows_.back(), affordable);
      }
      const auto start = Clock::now();
      count_all(sample_set(largest.view(), rows, options_.seed));
      last_seconds = seconds_since(start);
    }
  }

  /// Counts all indexes on one sample. Leaves them where directory_of() says, instead of those of
  /// an earlier call.
  void count_all(dataset::VectorSet source) {
    Progress progress(fmt::format("counting on {} rows", source.count()),
                      options_.degrees.size() + partitions_.size(), options_.quiet,
                      options_.interrupted);
    const Sample sample =
        make_sample(std::move(source), some_queries(), {options_.file.metric, options_.k, 0});
    sample_rows_.push_back(sample.rows.count());
    timing_ = top_up(queries(), sample.rows.view(), kMostTimed);
    fs::remove_all(indexes());
    fs::create_directory(indexes());
    sparse_share_ = 0;
    few_bits_ = try_few_bits(sample, some_queries(),
                             {.k = options_.k, .interrupted = options_.interrupted});
    for (const std::uint32_t degree : options_.degrees) {
      const double sparse = write_graphs(folder_of(degree), sample, degree, build_);
      sparse_share_ = std::max(sparse_share_, sparse);
      count_where([&](const Setting& s) { return s.is_graph() && s.degree == degree; }, sample);
      progress.advance(1);
    }
    for (const Partition& partition : partitions_) {
      write_clusters(folder_of(partition), sample, partition, options_.layouts, build_);
      count_where([&](const Setting& s) { return !s.is_graph() && s.partition == partition; },
                  sample);
      progress.advance(1);
    }
  }

  template <typename Wanted>
  void count_where(const Wanted& wanted, const Sample& sample) {
    for (const Setting& setting : settings_) {
      if (wanted(setting)) count_index_of(setting, sample);
    }
  }

  /// Counts for all devices; only once where counts do not depend on them.
  void count_index_of(const Setting& setting, const Sample& sample) {
    if (asked_to_end(options_.interrupted)) throw WorkInterrupted();
    std::optional<TrialResult> counted;
    for (DeviceTrials& device : devices_) {
      for (SettingTrials& trials : device.settings) {
        if (trials.setting != setting) continue;
        if (!counted || counts_depend_on_device(setting)) {
          counted = make_trial(directory_of(setting), setting, some_queries(), device.options)
                        ->count(sample.truth);
        }
        trials.trials.push_back(*counted);
      }
    }
  }

  void time_all() {
    Progress progress("timing", kRounds * settings_.size(), options_.quiet, options_.interrupted);
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      for (const Setting& setting : settings_) {
        time_index_of(setting);
        progress.advance(1);
      }
    }
  }

  void time_index_of(const Setting& setting) {
    for (DeviceTrials& device : devices_) {
      device.options.timing = timing_->view();
      for (SettingTrials& trials : device.settings) {
        if (trials.setting != setting || !trials.trials.back().reached) continue;
        make_trial(directory_of(setting), setting, some_queries(), device.options)
            ->time(trials.trials.back());
      }
    }
  }

  fs::path indexes() const { return options_.scratch / "indexes"; }
  fs::path folder_of(std::uint32_t degree) const {
    return indexes() / fmt::format("graph-{}", degree);
  }
  fs::path folder_of(const Partition& partition) const {
    return indexes() / fmt::format("clusters-{}-{}", partition.cluster_rows, partition.replicas);
  }
  /// Returns the folder of the small index of a setting.
  fs::path directory_of(const Setting& setting) const {
    return (setting.is_graph() ? folder_of(setting.degree) : folder_of(setting.partition)) /
           layout_name(setting);
  }

  AdviceReport look_ahead(const DeviceTrials& device) const {
    AdviceReport report;
    report.file = options_.file;
    report.target = {rows_, options_.file.row_bytes, device.options.device, options_.threads};
    report.recipe = build_.recipe;
    report.k = options_.k;
    report.recall = options_.recall;
    report.sample_rows = sample_rows_;
    report.sparse_share = sparse_share_;
    report.few_bits = few_bits_;
    report.queries = some_queries().count;
    for (const SearchFamily family : kSearchFamilies) {
      report.models[family] = model_of(family, device.settings);
    }
    for (const SettingTrials& trials : device.settings) {
      report.forecasts.push_back(
          forecast(trials, report.models.at(family_of(trials.setting)), report.target));
      add_search_dram(device.options, report.forecasts.back());
    }
    report.core_share = core_share(device.settings);
    std::stable_sort(
        report.forecasts.begin(), report.forecasts.end(),
        [](const Forecast& a, const Forecast& b) { return a.prediction.qps > b.prediction.qps; });
    report.choice = choose(report.forecasts, options_.limits);
    return report;
  }

  void add_search_dram(const TrialOptions& options, Forecast& forecast) const {
    if (!forecast.reached) return;
    const auto trial =
        make_trial(directory_of(forecast.setting), forecast.setting, some_queries(), options);
    forecast.search_dram = static_cast<double>(
        trial->search_bytes(forecast.parameter, options_.threads, forecast.prediction.slots));
  }

  AdviceOptions options_;
  std::uint64_t rows_ = 0;
  std::uint64_t least_rows_ = 0;  ///< least rows of a sample
  RowRange range_;
  const dataset::VectorSet queries_;
  std::optional<dataset::VectorSet> timing_;  ///< the queries and rows of the largest sample
  SmallBuild build_;
  std::vector<Setting> settings_;
  std::vector<Partition> partitions_;
  std::vector<DeviceTrials> devices_;
  std::vector<std::uint64_t> sample_rows_;
  double sparse_share_ = 0;        ///< the sparse share of the last of them
  std::vector<FewBits> few_bits_;  ///< what fewer bits find in the last of them
};

}  // namespace

std::vector<AdviceReport> advise(AdviceOptions options) {
  return Advisor(std::move(options)).run();
}

}  // namespace farvec::measure
