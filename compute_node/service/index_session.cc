#include "compute_node/service/index_session.h"

#include <algorithm>
#include <utility>
#include <variant>

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

/// Numbers that one kind of index has. They stay 0 for the others.
void describe_part(const auto&, ServedIndex&) {}

void describe_part(const layout::GraphPart& graph, ServedIndex& served) {
  served.degree = graph.max_degree;
  served.code_bits = graph.build.code_bits;
}

void describe_part(const layout::ClusterPart& clusters, ServedIndex& served) {
  served.clusters = clusters.geometry.clusters;
}

ServedIndex describe(const search::SearchIndex& index, const layout::Manifest& manifest,
                     const tiers::Tier& tier, const IndexSessionOptions& options) {
  ServedIndex served;
  served.metric = manifest.metric;
  served.source_type = manifest.source_type;
  served.stored_type = manifest.stored_type;
  served.dimension = manifest.dimension;
  served.count = manifest.count;
  served.kind = manifest.kind();
  served.layout = manifest.layout_name();
  std::visit([&](const auto& part) { describe_part(part, served); }, manifest.part);
  served.tier = options.tier;
  served.page_search = options.page_search;
  served.generation = options.generation;
  served.index_bytes = search::index_bytes(manifest);
  served.offset_bytes = index.location_bytes();
  served.code_bytes = index.dram_bytes() - served.offset_bytes;
  const search::SearchShape& shape = options.shape;
  if (tier.loads().empty()) served.cache_bytes = shape.cache_bytes * shape.cores;
  if (const auto plan = tier.plan(index, shape)) {
    served.offset_bytes = plan->location;
    served.cache_bytes = plan->caches;
    served.search_bytes = plan->buffers + plan->searches;
    served.memory_budget = shape.disk.memory_budget.value_or(0);
  }
  return served;
}

IndexSessionOptions counting_probes(IndexSessionOptions options, const layout::Manifest& manifest) {
  if (manifest.is_cluster()) {
    options.shape.probe_counts = std::make_shared<search::ProbeCounts>(manifest);
  }
  return options;
}

}  // namespace

search::SearchShape search_shape(const DaemonOptions& options) {
  const RequestLimits& limits = options.limits;
  return {.cores = options.threads,
          .slots = options.slots,
          .cache_bytes = options.cache_bytes / options.threads,
          .k = std::min(limits.max_k, limits.max_list),
          .list = limits.max_list,
          .width = limits.max_width,
          .probe = limits.max_probe};
}

IndexSession::IndexSession(std::shared_ptr<const search::SearchIndex> index,
                           const layout::Manifest& manifest,
                           std::unique_ptr<const tiers::Tier> tier, IndexSessionOptions options)
    : options_(counting_probes(std::move(options), manifest)),
      index_(std::move(index)),
      tier_(std::move(tier)),
      cores_(tier_->prepare(*index_, options_.shape)),
      served_(describe(*index_, manifest, *tier_, options_)) {}

void IndexSession::run_core(unsigned, search::TaskFeed& feed) {
  const std::unique_ptr<search::SearchCore> core = cores_->make_core();
  SampledFeed sampled(feed, *core, *this);
  core->run(sampled);
}

}  // namespace farvec::compute_node
