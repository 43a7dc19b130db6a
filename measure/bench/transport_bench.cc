#include "measure/bench/transport_bench.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/random.h"
#include "measure/bench/bench_tier.h"
#include "measure/report/machine.h"
#include "search/core/pinned_threads.h"
#include "transport/load/read_load.h"

namespace farvec::measure {
namespace {

constexpr transport::RegionId kRegion = 0;
constexpr double kWarmUpShare = 0.2;  ///< the warm-up's share of a pass

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
  explicit TransportBench(const TransportBenchOptions& options)
      : options_(options), memory_(options.bytes) {
    BenchAxes axes = options.axes;
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
    Random seeds(options.seed);
    for (const BenchPoint& point : points) add_run(point, seeds);
  }

  void measure() {
    for (Run& run : runs_) (void)run_once(run, kWarmUpShare);
    run_passes(options_.passes, options_.interrupted, [this] {
      for (Run& run : runs_) measure_pass(run);
    });
  }

  void report(JsonLines& json) const {
    const BenchContext context{host_description(), options_.pass_ms, options_.seed};
    print_bench_header();
    for (const Run& run : runs_) {
      const BenchTierFacts facts = facts_of(*tiers_[run.point.tier]);
      print_bench_row(run.point, facts, run.samples);
      json.append(bench_json(context, run.point, facts, run.samples));
    }
    json.write();
  }

 private:
  /// Opens the tiers for at most `threads` lanes.
  void open_tiers(std::uint32_t threads) {
    for (const auto& spec : options_.tiers) {
      const bool verbs = spec->read_path().kind == tiers::ReadPathKind::verbs;
      for (const auto& tuning : verbs ? options_.tunings : std::vector<transport::VerbsTuning>(1)) {
        const tiers::TierContext context{
            .memory = &memory_,
            .remote = {.tls = options_.tls, .cores = threads, .tuning = tuning}};
        tiers_.push_back(std::make_unique<BenchTier>(spec, context));
      }
    }
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

  /// Runs one pass of every thread, `share` of a pass long.
  std::vector<transport::LoadCounts> run_once(Run& run, double share) {
    std::vector<transport::LoadCounts> counts(run.loads.size());
    const auto idle = tiers_[run.point.tier]->idle_but(run.point.threads);
    search::run_pinned(run.loads.size(), [&](std::size_t t) {
      counts[t] = run.loads[t].run(options_.pass_ms * 1000 * share);
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

  const TransportBenchOptions& options_;
  BenchMemory memory_;
  std::vector<std::unique_ptr<BenchTier>> tiers_;
  std::vector<Run> runs_;
};

}  // namespace

void bench_transport(const TransportBenchOptions& options, JsonLines& json) {
  TransportBench bench(options);
  bench.measure();
  bench.report(json);
}

}  // namespace farvec::measure
