// farvec sweep: recall, throughput and latency over every combination of parameters.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/parallel.h"
#include "cli/batch_search.h"
#include "cli/commands.h"
#include "cli/local_tier.h"
#include "cli/measurement.h"
#include "cli/queries.h"
#include "cli/sweep_plan.h"
#include "cli/sweep_report.h"
#include "compute_node/index_loader.h"
#include "dataset/recall.h"
#include "rpc/tls_flags.h"

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
  DiskArguments disk;
  std::uint32_t k = 10;
  std::uint32_t passes = 5;
  double pass_ms = 300;
  rpc::TlsFiles tls;
};

/// A point with all that its measurement needs, and what was measured.
struct Run {
  SweepPoint point;
  LocalTier* tier = nullptr;
  std::vector<std::unique_ptr<compute_node::SearchCore>> cores;
  BatchParameters parameters;
  SweepSamples samples;
};

class Sweep {
 public:
  explicit Sweep(const SweepArguments& arguments)
      : arguments_(arguments),
        directory_(layout::IndexDirectory::open(arguments.index)),
        index_(compute_node::load_search_index(directory_, {.quiet = true})),
        memory_(directory_),
        truth_(dataset::read_groundtruth(arguments.groundtruth)),
        queries_(load_queries(arguments.queries, directory_.manifest())) {
    range_ = parse_range(arguments.range, queries_.count());
    rows_ = rows_of(range_);
    for (const RowRange& other : {RowRange{0, range_.begin}, {range_.end, queries_.count()}}) {
      if (other.begin < other.end) warm_rows_.push_back(rows_of(other));
    }
    if (truth_.queries < range_.end || truth_.k < arguments.k) {
      throw Error("{} has {} neighbours for each of {} queries: {} for {} are needed",
                  arguments.groundtruth, truth_.k, truth_.queries, arguments.k, range_.end);
    }
    const auto threads = split_numbers(arguments.threads, "--threads");
    const RemoteAccess access{arguments.tls, *std::max_element(threads.begin(), threads.end())};
    for (const auto& spec : transport::parse_tiers(arguments.tiers)) {
      tiers_.push_back(std::make_unique<LocalTier>(spec, index_, memory_, access));
    }
    axes_ = axes();
    for (const SweepPoint& point : axes_.points()) add_run(point);
  }

  void measure() {
    for (Run& run : runs_) prepare(run);
    run_passes(arguments_.passes, [this] {
      for (Run& run : runs_) measure_pass(run);
    });
  }

  void report(JsonLines& json) const {
    const ReportContext context = make_context(directory_.manifest(), arguments_.index,
                                               {range_.begin, range_.end}, arguments_.k);
    const layout::IndexKind kind = directory_.manifest().index;
    const bool disk = index_.slotted() != nullptr;
    disk ? print_slotted_header() : print_sweep_header(kind);
    for (const Run& run : runs_) {
      disk ? print_slotted_row(run.point, run.samples)
           : print_sweep_row(kind, run.point, run.tier->name(), run.samples);
    }
    for (const Run& run : runs_) {
      json.append(sweep_json(context, run.point, {run.tier->name(), run.tier->model()}, run.samples,
                             index_.dram_bytes()));
    }
    json.write();
  }

 private:
  VectorView rows_of(const RowRange& range) const {
    VectorView rows = queries_.view();
    rows.data = rows.row(range.begin);
    rows.count = range.end - range.begin;
    return rows;
  }

  SweepAxes axes() const {
    SweepAxes axes;
    axes.tiers = tiers_.size();
    axes.threads = split_numbers(arguments_.threads, "--threads");
    axes.slots = split_slots(arguments_.slots);
    axes.cache_bytes = split_bytes(arguments_.cache_bytes, "--cache-bytes");
    if (std::any_of(tiers_.begin(), tiers_.end(), [](const auto& t) { return t->is_disk(); })) {
      axes.disks = disk_choices(arguments_.disk, directory_.manifest());
    }
    if (index_.clusters() == nullptr) {
      axes.widths = split_numbers(arguments_.widths, "--width");
      axes.lists = split_numbers(arguments_.lists, "--list");
      return axes;
    }
    axes.probes = split_numbers(arguments_.probes, "--probe");
    axes.dedups = split_switches(arguments_.dedup, "--dedup");
    axes.prune_ratio = arguments_.prune_ratio;
    return axes;
  }

  void add_run(const SweepPoint& point) {
    LocalTier& tier = *tiers_[point.tier];
    // Would repeat the run without a cache, or under another budget.
    if (point.cache_bytes > 0 && !tier.uses_cache()) return;
    if (!tier.is_disk() && point.disk != axes_.disks.front()) return;
    Run run{point, &tier, {}, {}, {}};
    run.parameters.k = arguments_.k;
    run.parameters.list = point.list;
    run.parameters.width = point.width;
    run.parameters.probing = point.probing;
    runs_.push_back(std::move(run));
  }

  CoreRequest request_of(const Run& run) const {
    CoreRequest request{.cores = run.point.threads,
                        .list = run.point.list,
                        .width = run.point.width,
                        .probe = run.point.probing.clusters,
                        .k = arguments_.k,
                        .disk = run.point.disk};
    compute_node::SearchCoreOptions& options = request.options;
    options.slots = run.point.slots;
    options.cache_bytes = run.point.cache_bytes / run.point.threads;
    options.max_list = std::max(run.point.list, options.max_list);
    options.max_probe = std::max(run.point.probing.clusters, options.max_probe);
    options.merge_gap_bytes = arguments_.merge_gap;
    return request;
  }

  /// Whether a search finds what those before it have left in memory: such searches are not
  /// repeated.
  bool pooled() const { return index_.slotted() != nullptr; }

  /// Finds how many searches are in flight, and, where a search can be repeated, makes the cores,
  /// measures recall and counts, and finds how often the set has to be searched for a pass to last
  /// long enough.
  void prepare(Run& run) {
    if (run.point.slots == 0) {
      const VectorView probes = warm_rows_.empty() ? rows_ : warm_rows_.front();
      run.point.slots = run.tier->choose_slots(request_of(run), probes, run.parameters);
    }
    const CoreRequest request = request_of(run);
    run.samples.memory_bytes = run.tier->memory_bytes(request).value_or(0);
    if (pooled()) {
      run.samples.warm_queries = queries_.count() - rows_.count;
      return;
    }
    run.cores = run.tier->make_cores(request);
    dataset::GroundTruth results;
    run_batch(run.cores, rows_, run.parameters, results);
    const double seconds = count(run).seconds;
    run.parameters.repeats = static_cast<std::uint32_t>(
        std::clamp(arguments_.pass_ms / 1000 / seconds + 1, 1.0, 1000.0));
  }

  /// One round over the set, whose recall and counts are noted.
  BatchOutcome count(Run& run) const {
    dataset::GroundTruth results;
    const compute_node::CoreStatistics before = statistics(run);
    BatchOutcome outcome = run_batch(run.cores, rows_, run.parameters, results);
    const compute_node::CoreStatistics after = statistics(run);
    const bool exact = has_exact_distances(directory_.manifest(), run.point.disk.rerank);
    run.samples.recall = dataset::recall_at_k(
        {results.ids.data(), exact ? results.distances.data() : nullptr, rows_.count, results.k},
        truth_, arguments_.k, range_.begin);
    run.samples.totals = outcome.totals;
    run.samples.queries = rows_.count;
    run.samples.core_dram_bytes = after.dram_bytes;
    run.samples.io_reads =
        pooled() ? outcome.totals.reads : after.device_reads - before.device_reads;
    run.samples.io_bytes =
        pooled() ? outcome.totals.bytes : after.device_bytes - before.device_bytes;
    return outcome;
  }

  /// Cores with an empty pool, which queries that are not measured fill.
  void fill_pool(Run& run) {
    run.cores.clear();
    run.cores = run.tier->make_cores(request_of(run));
    dataset::GroundTruth results;
    for (const VectorView& rows : warm_rows_) {
      run_batch(run.cores, rows, run.parameters, results);
    }
  }

  /// Sums over its cores.
  static compute_node::CoreStatistics statistics(const Run& run) {
    compute_node::CoreStatistics sum;
    for (const auto& core : run.cores) {
      const compute_node::CoreStatistics one = core->statistics();
      sum.dram_bytes += one.dram_bytes;
      sum.device_reads += one.device_reads;
      sum.device_bytes += one.device_bytes;
    }
    return sum;
  }

  BatchOutcome measure_pooled(Run& run) {
    fill_pool(run);
    BatchOutcome outcome = count(run);
    run.cores.clear();
    return outcome;
  }

  BatchOutcome measure_again(const Run& run) const {
    dataset::GroundTruth results;
    return run_batch(run.cores, rows_, run.parameters, results);
  }

  void measure_pass(Run& run) {
    BatchOutcome outcome = pooled() ? measure_pooled(run) : measure_again(run);
    double total_us = 0;
    for (float us : outcome.latency_us) total_us += static_cast<double>(us);
    const auto searches = static_cast<double>(outcome.latency_us.size());
    run.samples.qps.push_back(searches / outcome.seconds);
    run.samples.processor_us.push_back(1e6 * outcome.processor_seconds / searches);
    run.samples.mean_us.push_back(total_us / searches);
    run.samples.p50_us.push_back(percentile(outcome.latency_us, 0.50));
    run.samples.p99_us.push_back(percentile(outcome.latency_us, 0.99));
  }

  const SweepArguments& arguments_;
  const layout::IndexDirectory directory_;
  const compute_node::SearchIndex index_;
  LocalMemory memory_;
  const dataset::GroundTruth truth_;
  const dataset::VectorSet queries_;
  RowRange range_;
  VectorView rows_;
  std::vector<VectorView> warm_rows_;  ///< those that are not measured
  std::vector<std::unique_ptr<LocalTier>> tiers_;
  SweepAxes axes_;
  std::vector<Run> runs_;
};

void sweep(const SweepArguments& arguments) {
  if (arguments.k == 0) throw Error("--k must be at least 1");
  if (arguments.passes == 0) throw Error("--passes must be at least 1");
  JsonLines json(arguments.json);
  Sweep run(arguments);
  run.measure();
  run.report(json);
}

void add_search_options(CLI::App& command, SweepArguments& a) {
  command.add_option("--index", a.index, "Index directory")->required();
  command.add_option("--queries", a.queries, "Vector file")->required();
  command.add_option("--groundtruth", a.groundtruth, "True neighbours (.ibin, .ivecs)")->required();
  command.add_option("--k", a.k, "Neighbours wanted")->capture_default_str();
  command.add_option("--list", a.lists, "L, comma-separated")->capture_default_str();
  command.add_option("--width", a.widths, "W, records fetched per hop")->capture_default_str();
}

void add_cluster_options(CLI::App& command, SweepArguments& a) {
  command.add_option("--probe", a.probes, "Of a cluster index: most clusters to probe")
      ->capture_default_str();
  command
      .add_option("--prune-ratio", a.prune_ratio,
                  "Of a cluster index: leave out clusters that are more than so many times\n"
                  "as far as the nearest one [keep all]")
      ->check(CLI::Range(1.0, 1e6));
  command
      .add_option("--dedup", a.dedup,
                  "Of a cluster index: on reads no vector twice in one query, off reads all that\n"
                  "the clusters name; both with on,off")
      ->capture_default_str();
  command.add_option("--merge-gap", a.merge_gap,
                     "Of a cluster index: strays with at most so many bytes between them share\n"
                     "a read [what a request costs on the tier]");
}

void add_machine_options(CLI::App& command, SweepArguments& a) {
  command
      .add_option("--slots", a.slots,
                  "Searches in flight per core; 1 is synchronous. auto: 16, and for slotted pages\n"
                  "what the disk's rate wants, measured at the start")
      ->capture_default_str();
  command.add_option("--threads", a.threads, "Cores")->capture_default_str();
  command
      .add_option(
          "--tier", a.tiers,
          "dram, shm, file:PATH, devdax:PATH, "
          "ssd[:PATH] (PATH is where the records lie if not with the index: a file, a directory\n"
          "or a block device),\n"
          "verbs:ADDRESS[,device=NAME][,gid=INDEX][,reads=BUDGET]\n"
          "of a memory node, fabric:PROVIDER:ADDRESS (libfabric's tcp, verbs;ofi_rxm, shm, efa),\n"
          "emulated:rdma|cxl|nvm|ssd or\n"
          "emulated:latency=5us,bandwidth=10GB/s,rate=50M/s")
      ->capture_default_str();
  command
      .add_option("--cache-bytes", a.cache_bytes,
                  "Record cache over all cores of a combination; 0: none. All combinations'\n"
                  "caches exist at once. Tiers that load in place have none")
      ->capture_default_str();
}

void add_measurement_options(CLI::App& command, SweepArguments& a) {
  command.add_option("--queries-range", a.range, "A:B, rows of the query file [all]");
  command.add_option("--passes", a.passes, "Times every combination is measured, in turn")
      ->capture_default_str();
  command.add_option("--pass-ms", a.pass_ms, "Queries are repeated until a pass lasts this long")
      ->capture_default_str();
  command.add_option("--json", a.json, "File for one JSON object per combination and line");
}

}  // namespace

void register_sweep_command(CLI::App& tool) {
  auto arguments = std::make_shared<SweepArguments>();
  SweepArguments& a = *arguments;
  CLI::App* command = tool.add_subcommand(
      "sweep", "Measure recall, throughput and latency over every combination of parameters");
  add_search_options(*command, a);
  add_cluster_options(*command, a);
  add_machine_options(*command, a);
  add_disk_options(*command, a.disk, true);
  add_measurement_options(*command, a);
  rpc::add_tls_flags(*command, a.tls);
  command->footer(
      "Every pass measures all combinations once, tiers next to each other; the table shows "
      "medians\n"
      "of the passes and the spread of the throughput. Counts are exact. For slotted pages every\n"
      "pass begins with an empty pool, which the queries outside of --queries-range fill, and\n"
      "searches the range once.\n"
      "Example:\n"
      "  farvec sweep --index sift1m.index --queries query.u8bin --groundtruth gt100.ibin \\\n"
      "    --list 20,40,80 --slots 1,16 --tier dram,emulated:rdma --json sweep.json");
  command->callback([arguments] { sweep(*arguments); });
}

}  // namespace farvec::cli
