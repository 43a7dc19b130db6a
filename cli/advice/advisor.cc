#include "cli/advice/advisor.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/progress.h"
#include "cli/advice/sample_plan.h"
#include "cli/advice/scratch_folder.h"
#include "cli/advice/small_index.h"
#include "cli/queries.h"
#include "cli/sweep_plan.h"
#include "dataset/vector_file.h"
#include "distance/distance.h"

namespace farvec::cli {
namespace {

namespace fs = std::filesystem;

/// Times that all indexes are timed, in turn.
constexpr std::uint32_t kRounds = 3;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void check(const AdviceOptions& options) {
  if (!(options.recall > 0 && options.recall < 1)) {
    throw Error("--recall {} is out of range: use more than 0 and less than 1", options.recall);
  }
  if (options.k == 0) throw Error("--k must be at least 1");
  if (options.threads == 0) throw Error("--threads must be at least 1");
  if (options.devices.empty()) throw Error("no device is given");
}

/// What was tried for one device.
struct DeviceTrials {
  TrialOptions options;
  std::vector<SettingTrials> settings;  ///< graphs, then partitions with all their layouts
};

class Advisor {
 public:
  explicit Advisor(AdviceOptions options)
      : options_(std::move(options)),
        scratch_(options_.scratch.empty() ? fs::temp_directory_path() : fs::path(options_.scratch)),
        queries_(load_query_set()) {
    build_ = {options_.recipe, options_.seed, 0};
    const std::vector<SettingTrials> settings = list_settings();
    for (const transport::DeviceModel& device : options_.devices) {
      TrialOptions trial;
      trial.k = options_.k;
      trial.recall = options_.recall;
      trial.width = options_.recipe.width;
      trial.device = device;
      trial.whole_rows = rows_;
      devices_.push_back({trial, settings});
    }
  }

  std::vector<AdviceReport> run() {
    count_samples();
    time_all();
    std::vector<AdviceReport> reports;
    for (DeviceTrials& device : devices_) reports.push_back(look_ahead(device));
    return reports;
  }

 private:
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
    layout::Manifest manifest;
    manifest.metric = options_.file.metric;
    manifest.source_type = info.type;
    manifest.stored_type = distance::stored_type(manifest.metric, info.type);
    manifest.dimension = info.dimension;
    dataset::VectorSet queries = load_queries(options_.queries, manifest);
    const RowRange range = parse_range(options_.queries_range, queries.count());
    if (range.end - range.begin < kLeastQueries) {
      throw Error("{} queries of '{}' are too few to tell a recall: {} are needed",
                  range.end - range.begin, options_.queries, kLeastQueries);
    }
    range_ = range;
    return queries;
  }

  VectorView some_queries() const {
    VectorView rows = queries_.view();
    rows.data = rows.row(range_.begin);
    rows.count = range_.end - range_.begin;
    return thin_out(rows, options_.most_queries);
  }

  std::size_t graphs() const { return options_.degrees.size(); }

  std::vector<SettingTrials> list_settings() {
    std::vector<SettingTrials> settings;
    for (const std::uint32_t degree : options_.degrees) {
      Setting setting;
      setting.degree = degree;
      settings.push_back({setting, {}});
    }
    for (const std::uint32_t rows : options_.cluster_rows) {
      for (const std::uint32_t replicas : options_.replicas)
        partitions_.push_back({rows, replicas});
    }
    for (const Partition& partition : partitions_) {
      for (const layout::ClusterLayoutKind kind : options_.layouts) {
        settings.push_back({{layout::IndexKind::cluster, 0, partition, kind}, {}});
      }
    }
    if (settings.empty()) throw Error("no index is left to compare: give degrees or clusters");
    return settings;
  }

  /// Ascending; the last one may be cut when those before took long.
  void count_samples() {
    const auto largest = sample_file(options_.file.path, options_.sample, options_.seed);
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

  /// Leaves the indexes where directory_of() says, instead of those of an earlier call.
  void count_all(dataset::VectorSet source) {
    const VectorView queries = some_queries();
    Progress progress(fmt::format("counting on {} rows", source.count()),
                      graphs() + partitions_.size(), options_.quiet);
    const Sample sample =
        make_sample(std::move(source), queries, {options_.file.metric, options_.k, 0});
    sample_rows_.push_back(sample.rows.count());
    for (std::size_t i = 0; i < graphs(); ++i) {
      fs::remove_all(directory_of(i));
      write_graph(directory_of(i), sample, options_.degrees[i], build_);
      count_index_of(i, sample);
      progress.advance(1);
    }
    const std::size_t layouts = options_.layouts.size();
    for (std::size_t p = 0; p < partitions_.size(); ++p) {
      const std::size_t first = graphs() + p * layouts;
      fs::remove_all(directory_of(first).parent_path());
      write_clusters(directory_of(first).parent_path(), sample, partitions_[p], options_.layouts,
                     build_);
      for (std::size_t i = first; i < first + layouts; ++i) count_index_of(i, sample);
      progress.advance(1);
    }
  }

  void count_index_of(std::size_t i, const Sample& sample) {
    for (DeviceTrials& device : devices_) {
      SettingTrials& trials = device.settings[i];
      if (&device != devices_.data() && !counts_depend_on_device(trials.setting)) {
        trials.trials.push_back(devices_.front().settings[i].trials.back());
      } else {
        trials.trials.push_back(
            count_index(directory_of(i), sample, some_queries(), device.options));
      }
    }
  }

  void time_all() {
    const std::size_t indexes = devices_.front().settings.size();
    Progress progress("timing", kRounds * indexes * devices_.size(), options_.quiet);
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < indexes; ++i) {
        for (DeviceTrials& device : devices_) {
          TrialResult& largest = device.settings[i].trials.back();
          if (largest.reached) {
            time_index(directory_of(i), some_queries(), device.options, largest);
          }
          progress.advance(1);
        }
      }
    }
  }

  /// Of the small index of setting i.
  fs::path directory_of(std::size_t i) const {
    if (i < graphs()) return scratch_.path() / fmt::format("graph-{}", i);
    const std::size_t layouts = options_.layouts.size();
    const std::size_t partition = (i - graphs()) / layouts;
    return scratch_.path() / fmt::format("clusters-{}", partition) /
           to_string(options_.layouts[(i - graphs()) % layouts]);
  }

  AdviceReport look_ahead(const DeviceTrials& device) const {
    AdviceReport report;
    report.file = options_.file;
    report.target = {rows_, options_.file.row_bytes, device.options.device, options_.threads};
    report.recipe = options_.recipe;
    report.k = options_.k;
    report.recall = options_.recall;
    report.sample_rows = sample_rows_;
    report.queries = some_queries().count;
    report.graphs = model_of(layout::IndexKind::graph, device.settings);
    report.clusters = model_of(layout::IndexKind::cluster, device.settings);
    for (const SettingTrials& trials : device.settings) {
      const bool graph = trials.setting.kind == layout::IndexKind::graph;
      report.forecasts.push_back(
          forecast(trials, graph ? report.graphs : report.clusters, report.target));
    }
    std::stable_sort(
        report.forecasts.begin(), report.forecasts.end(),
        [](const Forecast& a, const Forecast& b) { return a.prediction.qps > b.prediction.qps; });
    report.choice = choose(report.forecasts, options_.limits);
    return report;
  }

  AdviceOptions options_;
  ScratchFolder scratch_;
  std::uint64_t rows_ = 0;
  std::uint64_t least_rows_ = 0;  ///< of a sample
  RowRange range_;
  const dataset::VectorSet queries_;
  SmallBuild build_;
  std::vector<Partition> partitions_;
  std::vector<DeviceTrials> devices_;
  std::vector<std::uint64_t> sample_rows_;
};

}  // namespace

std::vector<AdviceReport> advise(AdviceOptions options) {
  return Advisor(std::move(options)).run();
}

}  // namespace farvec::cli
