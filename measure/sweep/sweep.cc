#include "measure/sweep/sweep.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "base/error.h"
#include "measure/sweep/disk_choices.h"
#include "measure/sweep/tier_cell.h"
#include "search/core/queries.h"
#include "search/filter/asked_condition.h"
#include "search/kinds/index_loader.h"

namespace farvec::measure {
namespace {

std::vector<search::SearchChoice> graph_choices(const SweepOptions& options) {
  std::vector<search::SearchChoice> choices;
  for (const auto list : options.lists) {
    for (const auto width : options.widths) {
      choices.push_back(search::GraphChoice{.list = list, .width = width});
    }
  }
  return choices;
}

std::vector<search::SearchChoice> probe_choices(const SweepOptions& options, bool coded) {
  std::vector<search::SearchChoice> choices;
  std::vector<std::uint32_t> lists = options.lists;
  if (!coded) lists.resize(1);
  for (const auto clusters : options.probes) {
    for (const std::uint32_t list : lists) {
      for (const bool dedup : options.dedups) {
        choices.push_back(search::ProbeChoice{clusters, options.prune_ratio, dedup, list});
      }
    }
  }
  return choices;
}

/// Returns every search that the options ask for of an index of the manifest's kind.
std::vector<search::SearchChoice> choices(const SweepOptions& options,
                                          const layout::Manifest& manifest) {
  switch (manifest.kind()) {
    case layout::IndexKind::graph:
      return graph_choices(options);
    case layout::IndexKind::cluster:
      return probe_choices(options, manifest.has_member_codes());
  }
  return {};
}

dataset::VectorSet load_rows(const SweepQuestions& questions, const search::RowForm& form) {
  return search::fit_queries(questions.load_rows(form.metric), questions.queries, form);
}

/// Opens and loads once what a sweep works with.
class Sweep {
 public:
  explicit Sweep(const SweepOptions& options)
      : options_(options),
        directory_(layout::IndexDirectory::open(options.index)),
        index_(search::load_search_index(directory_, {.quiet = options.manner.quiet})),
        records_(directory_, {}),
        queries_(options.questions,
                 load_rows(options.questions, search::form_of(directory_.manifest(), index_)),
                 options.range, options.k),
        line_time_(options.line_ns, bytes_of_searches(), options.manner.quiet),
        context_(report_context()) {
    queries_.passes = options.passes;
    queries_.pass_ms = options.pass_ms;
    queries_.interrupted = options.manner.interrupted;
    queries_.filter = options.filter;
    queries_.condition = search::asked_condition(index_, options.filter, "filter");
    const tiers::TierContext context{
        .memory = &records_,
        .index = &index_,
        .second_tier = options.second_tier,
        .remote = {.tls = options.tls,
                   .cores = *std::max_element(options.threads.begin(), options.threads.end())}};
    for (const auto& spec : options.tiers) open_tier(spec, context);
    if (directory_.manifest().kind() != layout::IndexKind::graph || index_.slotted()) return;
    for (const std::uint32_t count : options.threads) {
      line_time_.measure(count, options.manner.interrupted);
    }
  }

  /// Makes a cell for every combination that does not repeat another one.
  std::vector<std::unique_ptr<SweepCell>> cells() {
    const SweepAxes axes = this->axes();
    std::vector<std::unique_ptr<SweepCell>> cells;
    for (const SweepPoint& point : axes.points()) {
      SweepTier& tier = *tiers_[point.tier];
      const bool cached = !index_.slotted() && !tier.spec->traits().loads;
      if (point.cache_bytes > 0 && !cached) continue;
      if (!is_disk(tier) && point.disk != axes.disks.front()) continue;
      cells.push_back(std::make_unique<TierCell>(point, tier, context_));
    }
    return cells;
  }

  const SweepQueries& queries() const { return queries_; }

 private:
  /// Returns how many bytes of the index searches touch, on whichever tier they are.
  std::size_t bytes_of_searches() const {
    return index_.dram_bytes() + directory_.manifest().region(layout::kRecordsRegion).payload_bytes;
  }

  ReportContext report_context() const {
    const auto& records = directory_.manifest().region(layout::kRecordsRegion);
    return {.manifest = directory_.manifest(),
            .queries = queries_,
            .line_time = line_time_,
            .index = options_.index,
            .index_xxh3 = records.payload_checksum(),
            .queries_xxh3 = layout::fingerprint(queries_.all.view()),
            .merge_gap = options_.merge_gap,
            .second_tier = options_.second_tier == nullptr ? "" : options_.second_tier->name(),
            .index_dram_bytes = index_.dram_bytes()};
  }

  static bool is_disk(const SweepTier& tier) { return tier.spec->traits().disk; }

  /// Opens a tier. When that fails, the rows of the tier will say so.
  void open_tier(const tiers::TierSpecPointer& spec, const tiers::TierContext& context) {
    auto tier = std::make_unique<SweepTier>(SweepTier{spec, nullptr, ""});
    try {
      tier->open = std::make_unique<tiers::IndexOnTier>(*spec, context);
    } catch (const std::exception& error) {
      tier->failure = error.what();
    }
    tiers_.push_back(std::move(tier));
  }

  SweepAxes axes() const {
    SweepAxes axes;
    axes.tiers = tiers_.size();
    axes.threads = options_.threads;
    axes.slots = options_.slots;
    axes.cache_bytes = options_.cache_bytes;
    if (std::any_of(tiers_.begin(), tiers_.end(), [](const auto& t) { return is_disk(*t); })) {
      axes.disks = disk_choices(options_.disk, directory_.manifest());
    }
    axes.choices = choices(options_, directory_.manifest());
    return axes;
  }

  const SweepOptions& options_;
  const layout::IndexDirectory directory_;
  const search::SearchIndex index_;
  tiers::IndexRecords records_;
  SweepQueries queries_;
  LineTime line_time_;
  const ReportContext context_;
  std::vector<std::unique_ptr<SweepTier>> tiers_;
};

}  // namespace

void check_passes(std::uint32_t k, std::uint32_t passes, double pass_ms) {
  if (k == 0) throw Error("--k must be at least 1");
  if (passes == 0) throw Error("--passes must be at least 1");
  if (!(pass_ms > 0)) throw Error("--pass-ms must be more than 0");
}

std::vector<nlohmann::ordered_json> sweep(const SweepOptions& options, const SweepFiles& files) {
  check_passes(options.k, options.passes, options.pass_ms);
  return with_files(files, [&](SweepFile& file) {
    Sweep sweep(options);
    SweepRun(sweep.cells(), sweep.queries(), file, options.manner).run();
  });
}

}  // namespace farvec::measure
