#include "compute_node/service/index_session.h"

#include <utility>
#include <variant>

#include "search/disk_options.h"
#include "transport/emulated/emulated_endpoint.h"

namespace farvec::compute_node {
namespace {

/// Passes everything on, fails what ended after the index was lost, and samples the core's
/// statistics where that is allowed: in its calls.
class SampledFeed final : public search::TaskFeed {
 public:
  SampledFeed(search::TaskFeed& feed, const search::SearchCore& core, IndexSession& session)
      : feed_(feed), core_(core), session_(session), counters_(session.counters()) {}
  ~SampledFeed() override {
    counters_.reads_in_flight.fetch_sub(last_.in_flight_reads, std::memory_order_relaxed);
  }

  search::SearchTask* next() override { return feed_.next(); }
  bool finished() override { return feed_.finished(); }
  void done(search::SearchTask& task) override {
    if (++done_ % kSampleEvery == 0) sample();
    // A mapping outlives the node that wrote it; its bytes are nobody's then.
    if (task.status.ok() && !session_.alive()) {
      task.status = {StatusCode::unavailable, "the memory node was lost during the search"};
    }
    feed_.done(task);
  }
  void idle() override {
    sample();
    feed_.idle();
  }

 private:
  static constexpr std::uint32_t kSampleEvery = 64;

  void sample() {
    const search::CoreStatistics now = core_.statistics();
    // Relaxed: gauges and counters that order nothing. Differences wrap as unsigned sums do.
    counters_.stalls.fetch_add(now.stalls - last_.stalls, std::memory_order_relaxed);
    counters_.reads_in_flight.fetch_add(
        std::uint64_t{now.in_flight_reads} - std::uint64_t{last_.in_flight_reads},
        std::memory_order_relaxed);
    last_ = now;
  }

  search::TaskFeed& feed_;
  const search::SearchCore& core_;
  IndexSession& session_;
  TierCounters& counters_;
  search::CoreStatistics last_;
  std::uint32_t done_ = 0;
};

/// What one kind of index has; the numbers of the others stay 0.
void describe_part(const layout::GraphPart& graph, ServedIndex& served) {
  served.degree = graph.max_degree;
  served.code_bits = graph.build.code_bits;
}

void describe_part(const layout::ClusterPart& clusters, ServedIndex& served) {
  served.clusters = clusters.geometry.clusters;
}

ServedIndex describe(const search::SearchIndex& index, const layout::Manifest& manifest,
                     const IndexSessionOptions& options) {
  ServedIndex served;
  served.metric = manifest.metric;
  served.source_type = manifest.source_type;
  served.stored_type = manifest.stored_type;
  served.dimension = manifest.dimension;
  served.count = manifest.count;
  served.layout = manifest.layout_name();
  std::visit([&](const auto& part) { describe_part(part, served); }, manifest.part);
  served.tier = options.tier;
  served.page_search = options.page_search;
  served.generation = options.generation;
  served.index_bytes = search::index_bytes(manifest);
  served.offset_bytes = index.location_bytes();
  served.code_bytes = index.dram_bytes() - served.offset_bytes;
  if (options.make_endpoint) served.cache_bytes = options.core.cache_bytes * options.cores;
  if (options.memory) {
    served.offset_bytes = options.memory->location;
    served.cache_bytes = options.memory->caches;
    served.search_bytes = options.memory->searches;
    served.memory_budget = options.memory->budget.value_or(0);
  }
  return served;
}

IndexSessionOptions counting_probes(IndexSessionOptions options, const layout::Manifest& manifest) {
  if (manifest.is_cluster()) {
    options.core.probe_counts = std::make_shared<search::ProbeCounts>(manifest);
  }
  return options;
}

}  // namespace

search::SearchCoreOptions core_options(const DaemonOptions& options) {
  search::SearchCoreOptions made;
  made.slots = options.slots;
  made.cache_bytes = options.cache_bytes / options.threads;
  made.max_list = options.limits.max_list;
  made.max_probe = options.limits.max_probe;
  return made;
}

IndexSession::IndexSession(std::shared_ptr<const search::SearchIndex> index,
                           const layout::Manifest& manifest, IndexSessionOptions options)
    : index_(std::move(index)),
      options_(counting_probes(std::move(options), manifest)),
      served_(describe(*index_, manifest, options_)) {}

void IndexSessionOptions::emulate(const transport::DeviceModel& model,
                                  std::function<std::unique_ptr<transport::Endpoint>()> below) {
  auto device = std::make_shared<transport::Device>(model);
  if (model.reached_by_loads()) {
    core.device = std::move(device);
    return;
  }
  make_endpoint = [device, below = std::move(below)] {
    return std::make_unique<transport::EmulatedEndpoint>(below(), device);
  };
}

void IndexSession::run_core(unsigned, search::TaskFeed& feed) {
  const std::unique_ptr<search::SearchCore> core = make_core();
  SampledFeed sampled(feed, *core, *this);
  core->run(sampled);
}

std::unique_ptr<search::SearchCore> IndexSession::make_core() const {
  if (options_.make_core) return options_.make_core();
  if (options_.make_endpoint) {
    return search::make_core(*index_, options_.make_endpoint(), options_.core);
  }
  return search::make_core(*index_, options_.records, options_.core);
}

}  // namespace farvec::compute_node
