// farvec bench, and its transport: what a tier gives to reads alone, without an index or a search.
#include <algorithm>
#include <memory>
#include <string>

#include "base/command_line.h"
#include "base/error.h"
#include "base/option_rules.h"
#include "base/quantity.h"
#include "base/random.h"
#include "cli/bench/bench_report.h"
#include "cli/bench/bench_tier.h"
#include "cli/commands.h"
#include "cli/report/machine.h"
#include "cli/report/measurement.h"
#include "rpc/tls_flags.h"
#include "search/core/pinned_threads.h"
#include "transport/load/read_load.h"

namespace farvec::cli {
namespace {

constexpr transport::RegionId kRegion = 0;
constexpr double kWarmUpShare = 0.2;  ///< of a pass

struct BenchArguments {
  std::string tiers = "dram";
  std::string payloads = "64,256,4096";
  std::string inflights = "1,16,128";
  std::string mixes = "0%";
  std::string threads = "1";
  std::string batches;
  std::string signal = "last";
  std::string doorbell = "batch";
  std::uint64_t bytes = 256u << 20;
  std::uint64_t seed = 1;
  std::uint32_t passes = 5;
  double pass_ms = 300;
  std::string json;
  rpc::TlsFiles tls;
};

/// A point with its loads, one per thread, and what was measured.
struct Run {
  BenchPoint point;
  std::vector<transport::ReadLoad> loads;
  BenchSamples samples;
};

transport::LoadShape shape_of(const BenchPoint& point) {
  return {.payload_bytes = point.payload_bytes,
          .inflight = point.inflight,
          .batch = point.batch,
          .small_share = point.mix};
}

class TransportBench {
 public:
  explicit TransportBench(const BenchArguments& arguments)
      : arguments_(arguments), memory_(arguments.bytes) {
    BenchAxes axes = read_axes();
    open_tiers(*std::max_element(axes.threads.begin(), axes.threads.end()));
    axes.tiers = tiers_.size();
    const std::vector<BenchPoint> points = axes.points();
    std::size_t destinations = 0;
    std::uint32_t threads = 0;
    for (const BenchPoint& point : points) {
      transport::check_load(shape_of(point), tiers_[point.tier]->probe(), kRegion);
      destinations = std::max(destinations, transport::destination_bytes(shape_of(point)));
      threads = std::max(threads, point.threads);
    }
    for (auto& tier : tiers_) tier->open_lanes(threads, destinations);
    Random seeds(arguments.seed);
    for (const BenchPoint& point : points) add_run(point, seeds);
  }

  void measure() {
    for (Run& run : runs_) (void)run_once(run, kWarmUpShare);
    run_passes(arguments_.passes, [this] {
      for (Run& run : runs_) measure_pass(run);
    });
  }

  void report(JsonLines& json) const {
    const BenchContext context{host_description(), arguments_.pass_ms, arguments_.seed};
    print_bench_header();
    for (const Run& run : runs_) {
      const BenchTierFacts facts = facts_of(*tiers_[run.point.tier]);
      print_bench_row(run.point, facts, run.samples);
      json.append(bench_json(context, run.point, facts, run.samples));
    }
    json.write();
  }

 private:
  BenchAxes read_axes() const {
    BenchAxes axes;
    axes.threads = split_numbers(arguments_.threads, "--threads");
    axes.payloads = split_payloads(arguments_.payloads);
    axes.inflights = split_numbers(arguments_.inflights, "--inflight");
    if (!arguments_.batches.empty()) axes.batches = split_numbers(arguments_.batches, "--batch");
    axes.mixes = split_shares(arguments_.mixes, "--mix");
    return axes;
  }

  /// For at most so many lanes.
  void open_tiers(std::uint32_t threads) {
    for (const auto& spec : tiers::parse_tiers(arguments_.tiers)) {
      const bool verbs = spec->read_path().kind == tiers::ReadPathKind::verbs;
      for (const auto& tuning : verbs ? tunings() : std::vector<transport::VerbsTuning>(1)) {
        const tiers::TierContext context{
            .memory = &memory_,
            .remote = {.tls = arguments_.tls, .cores = threads, .tuning = tuning}};
        tiers_.push_back(std::make_unique<BenchTier>(spec, context));
      }
    }
  }

  std::vector<transport::VerbsTuning> tunings() const {
    std::vector<transport::VerbsTuning> all;
    for (const bool signal_every_read : {false, true}) {
      for (const bool doorbell_every_read : {false, true}) {
        const bool wanted = arguments_.signal != (signal_every_read ? "last" : "all") &&
                            arguments_.doorbell != (doorbell_every_read ? "batch" : "read");
        if (wanted) all.push_back({signal_every_read, doorbell_every_read});
      }
    }
    return all;
  }

  void add_run(const BenchPoint& point, Random& seeds) {
    Run run{point, {}, {}};
    run.samples.device_bound_per_s = tiers_[point.tier]->device_bound_per_s(point);
    for (std::uint32_t t = 0; t < point.threads; ++t) {
      BenchLane& lane = tiers_[point.tier]->lanes()[t];
      transport::LoadOptions options;
      options.shape = shape_of(point);
      options.region = kRegion;
      options.destinations = lane.destinations.span();
      options.seed = seeds.next();
      run.loads.emplace_back(*lane.endpoint, options);
    }
    runs_.push_back(std::move(run));
  }

  /// One pass of every thread, `share` of a pass long.
  std::vector<transport::LoadCounts> run_once(Run& run, double share) {
    std::vector<transport::LoadCounts> counts(run.loads.size());
    const auto idle = tiers_[run.point.tier]->idle_but(run.point.threads);
    search::run_pinned(run.loads.size(), [&](std::size_t t) {
      counts[t] = run.loads[t].run(arguments_.pass_ms * 1000 * share);
    });
    return counts;
  }

  void measure_pass(Run& run) { add_pass(run.samples, run_once(run, 1)); }

  static BenchTierFacts facts_of(const BenchTier& tier) {
    BenchTierFacts facts{tier.name(), tier.probe().description(), "", "",
                         tier.probe().region_bytes(kRegion)};
    if (tier.is_tuned()) {
      facts.signal = tier.tuning().signal_every_read ? "all" : "last";
      facts.doorbell = tier.tuning().doorbell_every_read ? "read" : "batch";
    }
    return facts;
  }

  const BenchArguments& arguments_;
  BenchMemory memory_;
  std::vector<std::unique_ptr<BenchTier>> tiers_;
  std::vector<Run> runs_;
};

/// Refuses options that would be ignored, before anything is opened.
void check_options(const Command& command, const BenchArguments& arguments) {
  bool own = false;
  bool verbs = false;
  bool remote = false;
  for (const auto& tier : tiers::parse_tiers(arguments.tiers)) {
    remote |= tier->is_remote();
    verbs |= tier->read_path().kind == tiers::ReadPathKind::verbs;
    own |= tier->traits().own_memory;
  }
  const std::string is = "; --tier is " + arguments.tiers;
  refuse_unused(command,
                std::vector<OptionRule>{{"--bytes", own, "dram, shm and emulated tiers" + is},
                                        {"--signal", verbs, "--tier verbs" + is},
                                        {"--doorbell", verbs, "--tier verbs" + is}});
  if (!remote) rpc::refuse_tls_flags(command, "tiers of memory nodes, verbs and fabric" + is);
}

void bench_transport(const Command& command, const BenchArguments& arguments) {
  check_options(command, arguments);
  if (arguments.passes == 0) throw Error("--passes must be at least 1");
  if (!(arguments.pass_ms > 0)) throw Error("--pass-ms must be more than 0");
  if (arguments.bytes == 0) throw Error("--bytes must be at least 1");
  JsonLines json(arguments.json);
  TransportBench bench(arguments);
  bench.measure();
  bench.report(json);
}

void register_bench_transport(Command& bench) {
  auto arguments = std::make_shared<BenchArguments>();
  BenchArguments& a = *arguments;
  Command command =
      bench.add_command("transport", "Measure random reads of a tier: rate, bandwidth, latency");
  command.add_option("--tier", a.tiers, tiers::tier_help(tiers::TierUse::bench)).show_default();
  command.add_option("--payload", a.payloads, "Bytes per read").show_default();
  command.add_option("--inflight", a.inflights, "Reads outstanding per thread; 1 is synchronous")
      .show_default();
  command.add_option("--mix", a.mixes, "Share of reads that have 128 bytes instead of the payload")
      .show_default();
  command.add_option("--threads", a.threads, "Threads, each with its own endpoint (queue pair)")
      .show_default();
  command.add_option("--batch", a.batches,
                     "Reads per doorbell; 1 is without batching [8, at most half of --inflight]");
  command
      .add_option("--signal", a.signal,
                  "verbs: ask for a completion of the last read of a batch, of all, or measure "
                  "both")
      .one_of({"last", "all", "both"})
      .show_default();
  command
      .add_option("--doorbell", a.doorbell,
                  "verbs: ring once per batch, once per read of it, or measure both")
      .one_of({"batch", "read", "both"})
      .show_default();
  command
      .add_option("--bytes", a.bytes,
                  "Size of the region, like 256MiB, for dram, shm and emulated; sizes are\n" +
                      std::string(kSizeForms))
      .size()
      .show_default();
  command.add_option("--passes", a.passes, "Times every combination is measured, in turn")
      .show_default();
  command.add_option("--pass-ms", a.pass_ms, "Length of a pass").show_default();
  command
      .add_option("--seed", a.seed, "Random seed of the offsets, multiples of 64 over the region")
      .show_default();
  command.add_option("--json", a.json, "File for one JSON object per combination and line");
  rpc::add_tls_flags(command, a.tls);
  command.footer(
      "Latency is that of a read, from its doorbell to the poll that delivered it. The table shows "
      "medians\nof the passes and the spread of the rate. Every completion's status and length is "
      "checked.\n"
      "bound/s is the rate of reads that a modelled device allows; far below it, the thread that\n"
      "reads or the latency binds.\n"
      "Example:\n"
      "  farvec bench transport --tier shm,emulated:rdma --payload 64,256,4096 --inflight 1,16,128 "
      "\\\n    --mix 0%,50%,90% --json transport.json");
  command.callback([arguments, command] { bench_transport(command, *arguments); });
}

}  // namespace

void register_bench_command(Command& tool) {
  Command bench = tool.add_command("bench", "Measure one part by itself");
  bench.require_command();
  register_bench_transport(bench);
  register_bench_disk_command(bench);
  register_bench_memory_command(bench);
  register_bench_service_command(bench);
}

}  // namespace farvec::cli
