// farvec sweep: recall, throughput and latency over every combination of parameters.
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "base/command_line.h"
#include "base/error.h"
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
#include "cli/sweep/sweep_run.h"
#include "dataset/groundtruth.h"
#include "rpc/option_rules.h"
#include "rpc/tls_flags.h"
#include "search/index_loader.h"
#include "search/queries.h"

namespace farvec::cli {
namespace {

struct SweepArguments {
  std::string index;
  std::string queries;
  std::string groundtruth;
  std::string lists = "20,40,80,160";
  std::string widths = "1";
  std::string probes = "1,4,16,64";
  std::string dedup = "on";
  float prune_ratio = std::numeric_limits<float>::infinity();
  std::optional<std::uint32_t> merge_gap;
  std::string slots = "auto";
  std::string threads = "1";
  std::string tiers = "dram";
  std::string cache_bytes = "0";
  std::string range;
  std::string json;
  std::string html;
  bool resume = false;
  bool overwrite = false;
  std::string buffers = "10%,50%";
  std::uint32_t min_complete = 6;
  DiskArguments disk;
  std::uint32_t k = 10;
  std::uint32_t passes = 5;
  double pass_ms = 300;
  double line_ns = 0;
  rpc::TlsFiles tls;
};

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

std::vector<search::SearchChoice> probe_choices(const SweepArguments& arguments) {
  std::vector<search::SearchChoice> choices;
  const auto dedups = split_switches(arguments.dedup, "--dedup");
  for (const auto clusters : split_numbers(arguments.probes, "--probe")) {
    for (const bool dedup : dedups) {
      choices.push_back(search::ProbeChoice{clusters, arguments.prune_ratio, dedup});
    }
  }
  return choices;
}

/// Every search that the options ask for of an index of that kind.
std::vector<search::SearchChoice> choices(const SweepArguments& arguments, layout::IndexKind kind) {
  switch (kind) {
    case layout::IndexKind::graph:
      return graph_choices(arguments);
    case layout::IndexKind::cluster:
      return probe_choices(arguments);
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
    axes.choices = choices(arguments_, directory_.manifest().kind());
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

const rpc::OptionRule kPagedOptions[] = {
    {"--buffer", false, "HNSW graphs on pages, whose buffer it is"},
    {"--min-complete", false, "HNSW graphs on pages"},
};

/// Refuses options that would be ignored, before anything is loaded.
void check_options(const Command& command, const SweepArguments& arguments) {
  rpc::refuse_unused(command, kPagedOptions);
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
  std::vector<rpc::OptionRule> rules;
  for (const char* option :
       {"--width", "--probe", "--prune-ratio", "--dedup", "--merge-gap", "--tier", "--cache-bytes",
        "--memory-budget", "--pass-ms", "--line-ns"}) {
    rules.push_back({option, false, "indexes that are no HNSW graph on pages"});
  }
  for (const char* option : search::kPageOptions) {
    if (std::string_view(option) == "--search") continue;
    rules.push_back({option, false, "slotted pages (`build graph --layout slotted`)"});
  }
  rpc::refuse_unused(command, rules);
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

void add_search_options(Command& command, SweepArguments& a) {
  command.add_option("--index", a.index, "Index directory").required();
  command.add_option("--queries", a.queries, "Vector file").required();
  command.add_option("--groundtruth", a.groundtruth, "True neighbours (.ibin, .ivecs)").required();
  command.add_option("--k", a.k, "Neighbours wanted").show_default();
  command.add_option("--list", a.lists, "L, comma-separated").show_default();
  command.add_option("--width", a.widths, "W, records fetched per hop").show_default();
}

void add_cluster_options(Command& command, SweepArguments& a) {
  command.add_option("--probe", a.probes, "Cluster indexes only: most clusters to search")
      .show_default();
  command
      .add_option(
          "--prune-ratio", a.prune_ratio,
          "Cluster indexes only: leave out a cluster whose centroid is more than this many\n"
          "times as far away as the nearest one [keep all]")
      .range(1.0, 1e6);
  command
      .add_option(
          "--dedup", a.dedup,
          "Cluster indexes only. on: a query reads no vector twice; off: it reads all that\n"
          "its clusters name. on,off measures both")
      .show_default();
  command
      .add_option("--merge-gap", a.merge_gap,
                  "Cluster indexes only: vectors that lie apart with at most this many bytes\n"
                  "(4096, 4KiB) between them share a read [what a request costs on the tier]")
      .size();
}

void add_page_options(Command& command, SweepArguments& a) {
  command
      .add_option(
          "--buffer", a.buffers,
          "HNSW graphs on pages only: pages kept in memory, as shares of all (10%) or sizes")
      .show_default();
  command
      .add_option("--min-complete", a.min_complete,
                  "HNSW graphs on pages only: pages that have to come before a pipelined search\n"
                  "goes on")
      .positive()
      .show_default();
}

void add_machine_options(Command& command, SweepArguments& a) {
  command
      .add_option("--slots", a.slots,
                  "Searches in flight per core; 1 is synchronous. auto: 16, and for slotted pages\n"
                  "what the disk's rate wants, measured at the start")
      .show_default();
  command.add_option("--threads", a.threads, "Cores").show_default();
  command.add_option("--tier", a.tiers, tiers::tier_help(tiers::TierUse::search)).show_default();
  command
      .add_option("--cache-bytes", a.cache_bytes,
                  "Record cache over all cores of a combination, like 64MB (1000s) or 64MiB\n"
                  "(1024s); 0: none. Tiers that load in place have none")
      .show_default();
}

void add_measurement_options(Command& command, SweepArguments& a) {
  command.add_option("--queries-range", a.range, "A:B, rows of the query file [all]");
  command.add_option("--passes", a.passes, "Times every combination is measured, in turn")
      .show_default();
  command
      .add_option("--pass-ms", a.pass_ms,
                  "Length of a pass, which searches the queries in turn, over and over or as far\n"
                  "as it comes")
      .show_default();
  command
      .add_option("--line-ns", a.line_ns,
                  "Graph indexes: nanoseconds that a core takes for a random cache line, for the\n"
                  "bound, as `farvec bench memory` says it [measured at the start]")
      .range(0.01, 1e6);
  const Option json = command.add_option(
      "--json", a.json,
      "File for one JSON object per combination and line, written when it is measured");
  command.add_option(
      "--html", a.html,
      "File for a page with figures and a table of all rows, for a browser, written\n"
      "at the end; `farvec report` makes one of several files of --json");
  Option resume =
      command.add_flag("--resume", a.resume,
                       "Add to the file of --json the combinations that it has not (of the same\n"
                       "index, queries, parameters and passes)");
  Option overwrite =
      command.add_flag("--overwrite", a.overwrite, "Replace a file that is already there");
  resume.needs(json).excludes(overwrite);
  overwrite.needs(json);
}

}  // namespace

void register_sweep_command(Command& tool) {
  auto arguments = std::make_shared<SweepArguments>();
  SweepArguments& a = *arguments;
  Command command = tool.add_command(
      "sweep", "Measure recall, throughput and latency over every combination of parameters");
  add_search_options(command, a);
  add_cluster_options(command, a);
  add_page_options(command, a);
  add_machine_options(command, a);
  search::add_disk_options(command, a.disk, true);
  add_measurement_options(command, a);
  rpc::add_tls_flags(command, a.tls);
  command.footer(
      "First every query is searched once: recall and counts, which are exact, are of that. Then\n"
      "come the passes, on the tiers of a combination in turn; a row has the medians of its "
      "passes\n"
      "and the spread of the throughput, and is printed when they are done. For slotted pages "
      "every\n"
      "pass begins with an empty pool, which the queries outside of --queries-range fill, and "
      "with\n"
      "the first query of the range, and searches none twice; the first pass searches all of it.\n"
      "For graphs, lines are the cache lines of codes, offsets and records that a query asks for, "
      "and\n"
      "bound is the rate at which memory can bring those of them that lie in this machine's "
      "memory, when\n"
      "none is in a cache (a rate above it shows that caches help), or at which a modelled device\n"
      "can bring what it is asked for, if that is less. --json has both, and the lines of each "
      "kind.\n"
      "For HNSW graphs on pages --search is how pages are read, of sync (one after the other),\n"
      "parallel (all of a vertex's neighbours at once) and pipelined (scored as they come), which\n"
      "are measured in turn [all three]; --list is ef, --slots are the searches in flight on a "
      "thread, and\n"
      "every pass opens the graph anew, fills its buffer by the queries outside of\n"
      "--queries-range, and searches each query once.\n"
      "Where dram is one of the tiers, compute is its rate for the same combination in the same "
      "passes:\n"
      "what computation alone allows the other tiers; - of what dram does not measure (a record "
      "cache).\n"
      "A combination that cannot run has a row that says why; the status is 0 when any could.\n"
      "SIGINT ends it with status 130; --resume goes on.\n"
      "Example:\n"
      "  farvec sweep --index sift1m.index --queries query.u8bin --groundtruth gt100.ibin \\\n"
      "    --list 20,40,80 --slots 1,16 --tier dram,emulated:rdma --json sweep.json");
  command.callback([arguments, command] { sweep(command, *arguments); });
}

}  // namespace farvec::cli
