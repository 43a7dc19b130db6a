#include "cli/advice/advisor.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/progress.h"
#include "cli/advice/small_index.h"
#include "cli/queries.h"
#include "cli/sweep_plan.h"
#include "dataset/vector_file.h"
#include "distance/distance.h"

namespace farvec::cli {
namespace {

namespace fs = std::filesystem;

/// The smaller sample has this share of the larger one's rows.
constexpr std::uint64_t kSmallerBy = 4;
/// Times that all indexes are timed, in turn.
constexpr std::uint32_t kRounds = 3;

void check(const AdviceOptions& options, const dataset::VectorFileInfo& info) {
  if (!(options.recall > 0 && options.recall < 1)) {
    throw Error("--recall {} is out of range: use more than 0 and less than 1", options.recall);
  }
  if (options.k == 0) throw Error("--k must be at least 1");
  if (options.threads == 0) throw Error("--threads must be at least 1");
  const std::uint64_t least = std::max<std::uint64_t>(kLeastRows, 10u * options.k) * kSmallerBy;
  if (std::min(options.sample, info.count) < least) {
    throw Error("{} rows of '{}' are too few to learn from: {} are needed",
                std::min(options.sample, info.count), info.path, least);
  }
}

class Advisor {
 public:
  explicit Advisor(AdviceOptions options)
      : options_(std::move(options)),
        scratch_(options_.scratch.empty() ? fs::temp_directory_path() : fs::path(options_.scratch)),
        queries_(load_query_set()) {
    trial_.k = options_.k;
    trial_.recall = options_.recall;
    trial_.width = options_.recipe.width;
    trial_.device = options_.device;
    trial_.whole_rows = rows_;
    build_ = {options_.recipe, options_.seed, 0};
    list_settings();
  }

  AdviceReport run() {
    AdviceReport report;
    {
      Progress progress("counting", 2 * (graphs() + partitions_.size()), options_.quiet);
      auto whole = sample_file(options_.file.path, options_.sample, options_.seed);
      auto small = sample_set(whole.view(), whole.count() / kSmallerBy, options_.seed);
      count_all(std::move(small), report, progress);
      count_all(std::move(whole), report, progress);
    }
    time_all();
    report.file = options_.file;
    report.target = {rows_, options_.file.row_bytes, options_.device, options_.threads};
    report.recipe = options_.recipe;
    report.k = options_.k;
    report.recall = options_.recall;
    report.queries = some_queries().count;
    look_ahead(report);
    return report;
  }

 private:
  dataset::VectorSet load_query_set() {
    const auto reader = dataset::open_vectors(options_.file.path);
    const dataset::VectorFileInfo& info = reader->info();
    check(options_, info);
    rows_ = info.count;
    options_.file.row_bytes = info.row_bytes();
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

  void list_settings() {
    for (const std::uint32_t degree : options_.degrees) {
      Setting setting;
      setting.degree = degree;
      settings_.push_back({setting, {}});
    }
    for (const std::uint32_t rows : options_.cluster_rows) {
      for (const std::uint32_t replicas : options_.replicas)
        partitions_.push_back({rows, replicas});
    }
    for (const Partition& partition : partitions_) {
      for (const layout::ClusterLayoutKind kind : options_.layouts) {
        settings_.push_back({{layout::IndexKind::cluster, 0, partition, kind}, {}});
      }
    }
    if (settings_.empty()) throw Error("no index is left to compare: give degrees or clusters");
  }

  /// Leaves the indexes where directory_of() says, instead of those of an earlier call.
  void count_all(dataset::VectorSet source, AdviceReport& report, Progress& progress) {
    const VectorView queries = some_queries();
    const Sample sample =
        make_sample(std::move(source), queries, {options_.file.metric, options_.k, 0});
    report.sample_rows.push_back(sample.rows.count());
    for (std::size_t i = 0; i < graphs(); ++i) {
      fs::remove_all(directory_of(i));
      write_graph(directory_of(i), sample, settings_[i].setting.degree, build_);
      settings_[i].trials.push_back(count_index(directory_of(i), sample, queries, trial_));
      progress.advance(1);
    }
    const std::size_t layouts = options_.layouts.size();
    for (std::size_t p = 0; p < partitions_.size(); ++p) {
      const std::size_t first = graphs() + p * layouts;
      fs::remove_all(directory_of(first).parent_path());
      write_clusters(directory_of(first).parent_path(), sample, partitions_[p], options_.layouts,
                     build_);
      for (std::size_t i = first; i < first + layouts; ++i) {
        settings_[i].trials.push_back(count_index(directory_of(i), sample, queries, trial_));
      }
      progress.advance(1);
    }
  }

  void time_all() {
    Progress progress("timing", kRounds * settings_.size(), options_.quiet);
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < settings_.size(); ++i) {
        TrialResult& largest = settings_[i].trials.back();
        if (largest.reached) time_index(directory_of(i), some_queries(), trial_, largest);
        progress.advance(1);
      }
    }
  }

  /// Of the small index of settings_[i].
  fs::path directory_of(std::size_t i) const {
    if (i < graphs()) return scratch_.path() / fmt::format("graph-{}", i);
    const std::size_t layouts = options_.layouts.size();
    const std::size_t partition = (i - graphs()) / layouts;
    return scratch_.path() / fmt::format("clusters-{}", partition) /
           to_string(settings_[i].setting.layout);
  }

  void look_ahead(AdviceReport& report) const {
    report.graph_costs = unit_costs(layout::IndexKind::graph, settings_);
    report.cluster_costs = unit_costs(layout::IndexKind::cluster, settings_);
    for (const SettingTrials& trials : settings_) {
      const bool graph = trials.setting.kind == layout::IndexKind::graph;
      report.forecasts.push_back(
          forecast(trials, graph ? report.graph_costs : report.cluster_costs, report.target));
    }
    std::stable_sort(
        report.forecasts.begin(), report.forecasts.end(),
        [](const Forecast& a, const Forecast& b) { return a.prediction.qps > b.prediction.qps; });
    report.choice = choose(report.forecasts, options_.limits);
  }

  AdviceOptions options_;
  ScratchFolder scratch_;
  std::uint64_t rows_ = 0;
  RowRange range_;
  const dataset::VectorSet queries_;
  TrialOptions trial_;
  SmallBuild build_;
  std::vector<Partition> partitions_;
  std::vector<SettingTrials> settings_;  ///< graphs, then partitions with all their layouts
};

}  // namespace

AdviceReport advise(AdviceOptions options) {
  return Advisor(std::move(options)).run();
}

}  // namespace farvec::cli
