// farvec sweep: recall, throughput and latency over every combination of parameters.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "base/command_line.h"
#include "base/error.h"
#include "base/option_rules.h"
#include "base/output_file.h"
#include "base/quantity.h"
#include "cli/commands.h"
#include "cli/hnsw/hnsw_sweep.h"
#include "cli/hnsw/page_access.h"
#include "cli/html/report_page.h"
#include "cli/interrupt.h"
#include "cli/report/machine.h"
#include "cli/report/measurement.h"
#include "cli/search/disk_choices.h"
#include "cli/search/search_rules.h"
#include "cli/sweep/sweep_options.h"
#include "cli/sweep/sweep_run.h"
#include "dataset/groundtruth.h"
#include "rpc/tls_flags.h"
#include "search/core/queries.h"
#include "search/kinds/index_loader.h"

namespace farvec::cli {
namespace {

std::vector<search::SearchChoice> graph_choices(const SweepArguments& arguments) {
  std::vector<search::SearchChoice> choices;
  const auto widths = split_numbers(arguments.widths, "--width");
  for (const auto list : split_numbers(arguments.lists, "--list")) {
    for (const auto width : widths) {
      choices.push_back(search::GraphChoice{.list = list, .width = width});
    }
  }
  return choices;
}

std::vector<search::SearchChoice> probe_choices(const SweepArguments& arguments, bool coded) {
  std::vector<search::SearchChoice> choices;
  const auto dedups = split_switches(arguments.dedup, "--dedup");
  std::vector<std::uint32_t> lists = split_numbers(arguments.lists, "--list");
  if (!coded) lists.resize(1);
  for (const auto clusters : split_numbers(arguments.probes, "--probe")) {
    for (const std::uint32_t list : lists) {
      for (const bool dedup : dedups) {
        choices.push_back(search::ProbeChoice{clusters, arguments.prune_ratio, dedup, list});
      }
    }
  }
  return choices;
}

/// Every search that the options ask for of an index of that kind.
std::vector<search::SearchChoice> choices(const SweepArguments& arguments,
                                          const layout::Manifest& manifest) {
  switch (manifest.kind()) {
    case layout::IndexKind::graph:
      return graph_choices(arguments);
    case layout::IndexKind::cluster:
      return probe_choices(arguments, manifest.has_member_codes());
  }
  return {};
}

/// What a sweep works with, opened and loaded once.
class Sweep {
 public:
  explicit Sweep(const SweepArguments& arguments)
      : arguments_(arguments),
        directory_(layout::IndexDirectory::open(arguments.index)),
        index_(search::load_search_index(directory_)),
        records_(directory_, {}),
        truth_(dataset::read_groundtruth(arguments.groundtruth)),
        vectors_(search::load_queries(arguments.queries, directory_.manifest())),
        line_time_(arguments.line_ns, bytes_of_searches()),
        queries_{.truth = truth_} {
    choose_rows();
    const auto threads = split_numbers(arguments.threads, "--threads");
    const tiers::TierContext context{
        .memory = &records_,
        .index = &index_,
        .remote = {.tls = arguments.tls,
                   .cores = *std::max_element(threads.begin(), threads.end())}};
    for (const auto& spec : tiers::parse_tiers(arguments.tiers)) open_tier(spec, context);
    if (directory_.manifest().kind() != layout::IndexKind::graph || index_.slotted()) return;
    for (const std::uint32_t count : threads) line_time_.measure(count);
  }

  /// One for every combination that is not another one's repetition.
  std::vector<std::unique_ptr<SweepCell>> cells() {
    const SweepAxes axes = this->axes();
    std::vector<std::unique_ptr<SweepCell>> cells;
    for (const SweepPoint& point : axes.points()) {
      SweepTier& tier = *tiers_[point.tier];
      const bool cached = !index_.slotted() && !tier.spec->traits().loads;
      if (point.cache_bytes > 0 && !cached) continue;
      if (!is_disk(tier) && point.disk != axes.disks.front()) continue;
      cells.push_back(std::make_unique<SweepCell>(point, tier, queries_));
    }
    return cells;
  }

  ReportContext context() const {
    const auto& records = directory_.manifest().region(layout::kRecordsRegion);
    return {.manifest = directory_.manifest(),
            .index = arguments_.index,
            .index_xxh3 = records.payload_checksum(),
            .queries_xxh3 = layout::fingerprint(vectors_.view()),
            .queries = queries_.range,
            .k = arguments_.k,
            .passes = arguments_.passes,
            .pass_ms = arguments_.pass_ms,
            .merge_gap = arguments_.merge_gap,
            .index_dram_bytes = index_.dram_bytes(),
            .host = host_description(),
            .command = command_description()};
  }

 private:
  /// What searches touch of the index, wherever it lies.
  std::size_t bytes_of_searches() const {
    return index_.dram_bytes() + directory_.manifest().region(layout::kRecordsRegion).payload_bytes;
  }

  static bool is_disk(const SweepTier& tier) { return tier.spec->traits().disk; }

  void choose_rows() {
    queries_.range = parse_range(arguments_.range, vectors_.count(), "--queries-range");
    const RowRange& range = queries_.range;
    queries_.rows = rows_in(vectors_.view(), range);
    for (const RowRange& other : {RowRange{0, range.begin}, {range.end, vectors_.count()}}) {
      if (other.begin < other.end) queries_.warm_rows.push_back(rows_in(vectors_.view(), other));
    }
    queries_.k = arguments_.k;
    queries_.pass_ms = arguments_.pass_ms;
    queries_.merge_gap = arguments_.merge_gap;
    queries_.line_time = &line_time_;
    if (truth_.queries < range.end || truth_.k < arguments_.k) {
      throw Error("{} has {} neighbours for each of {} queries: {} for {} are needed",
                  arguments_.groundtruth, truth_.k, truth_.queries, arguments_.k, range.end);
    }
  }

  /// One that cannot be opened says so in its rows.
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
    axes.threads = split_numbers(arguments_.threads, "--threads");
    axes.slots = split_slots(arguments_.slots);
    axes.cache_bytes = split_bytes(arguments_.cache_bytes, "--cache-bytes");
    if (std::any_of(tiers_.begin(), tiers_.end(), [](const auto& t) { return is_disk(*t); })) {
      axes.disks = disk_choices(arguments_.disk, directory_.manifest());
    }
    axes.choices = choices(arguments_, directory_.manifest());
    return axes;
  }

  const SweepArguments& arguments_;
  const layout::IndexDirectory directory_;
  const search::SearchIndex index_;
  tiers::IndexRecords records_;
  const dataset::GroundTruth truth_;
  const dataset::VectorSet vectors_;
  LineTime line_time_;
  SweepQueries queries_;
  std::vector<std::unique_ptr<SweepTier>> tiers_;
};

const OptionRule kPagedOptions[] = {
    {"--buffer", false, "HNSW graphs on pages, whose buffer it is"},
    {"--min-complete", false, "HNSW graphs on pages"},
};

/// Refuses options that would be ignored, before anything is loaded.
void check_options(const Command& command, const SweepArguments& arguments) {
  refuse_unused(command, kPagedOptions);
  const auto directory = layout::IndexDirectory::open(arguments.index);
  const auto tiers = tiers::parse_tiers(arguments.tiers);
  refuse_unused_options(command, {directory.manifest(), arguments.index, tiers});
}

void check_numbers(const SweepArguments& arguments) {
  if (arguments.k == 0) throw Error("--k must be at least 1");
  if (arguments.passes == 0) throw Error("--passes must be at least 1");
  if (!(arguments.pass_ms > 0)) throw Error("--pass-ms must be more than 0");
}

ExistingFile existing_file(const SweepArguments& arguments) {
  if (arguments.overwrite) return ExistingFile::overwrite;
  return arguments.resume ? ExistingFile::resume : ExistingFile::refuse;
}

/// Runs `measure` with the file of --json, then writes the page of --html: also when `measure` was
/// interrupted, of what there is.
template <typename Measure>
void with_report(const SweepArguments& arguments, Measure measure) {
  if (!arguments.html.empty()) check_output(arguments.html);
  SweepFile file(arguments.json, existing_file(arguments));
  const InterruptGuard watch;
  const auto write = [&] {
    if (!arguments.html.empty() && !file.rows().empty()) {
      write_report_page(arguments.html, file.rows());
    }
  };
  try {
    measure(file);
  } catch (const Interrupted&) {
    write();
    throw;
  }
  write();
}

/// Of an HNSW graph on pages, whose searches have a buffer and no tier.
void sweep_pages(const Command& command, const SweepArguments& arguments) {
  std::vector<OptionRule> rules;
  for (const char* option :
       {"--width", "--probe", "--prune-ratio", "--dedup", "--merge-gap", "--tier", "--cache-bytes",
        "--memory-budget", "--pass-ms", "--line-ns"}) {
    rules.push_back({option, false, "indexes that are no HNSW graph on pages"});
  }
  for (const char* option : search::kPageOptions) {
    if (std::string_view(option) == "--search") continue;
    rules.push_back({option, false, "slotted pages (`build graph --layout slotted`)"});
  }
  refuse_unused(command, rules);
  check_numbers(arguments);
  constexpr std::uint32_t kAutoSlots = 8;
  const std::string searches =
      command.was_given("--search") ? arguments.disk.search : "sync,parallel,pipelined";
  std::vector<std::uint32_t> slots = split_slots(arguments.slots);
  std::replace(slots.begin(), slots.end(), 0u, kAutoSlots);
  const HnswSweep sweep{.index = arguments.index,
                        .searches = split_words(searches),
                        .buffers = split_words(arguments.buffers),
                        .lists = split_numbers(arguments.lists, "--list"),
                        .slots = slots,
                        .threads = split_numbers(arguments.threads, "--threads"),
                        .min_complete = arguments.min_complete,
                        .k = arguments.k,
                        .passes = arguments.passes,
                        .queries = arguments.queries,
                        .groundtruth = arguments.groundtruth,
                        .range = arguments.range};
  with_report(arguments, [&](SweepFile& file) { sweep_hnsw(sweep, file); });
}

void sweep(const Command& command, const SweepArguments& arguments) {
  if (is_hnsw(arguments.index)) return sweep_pages(command, arguments);
  check_options(command, arguments);
  check_numbers(arguments);
  with_report(arguments, [&](SweepFile& file) {
    Sweep sweep(arguments);
    const ReportContext context = sweep.context();
    SweepRun run(sweep.cells(), context, file);
    if (run.run() > 0) return;
    throw Error("none of the combinations can run; the first: {}", run.first_failure());
  });
}

}  // namespace

void register_sweep_command(Command& tool) {
  auto arguments = std::make_shared<SweepArguments>();
  Command command = tool.add_command(
      "sweep", "Measure recall, throughput and latency over every combination of parameters");
  add_sweep_options(command, *arguments);
  command.callback([arguments, command] { sweep(command, *arguments); });
}

}  // namespace farvec::cli
