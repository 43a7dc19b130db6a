#include "compute_node/backends/index_session.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "compute_node/service/sampled_feed.h"
#include "search/index/row_attributes.h"
#include "search/index/row_form.h"

namespace farvec::compute_node {
namespace {

/// These set numbers that one kind of index has. They stay 0 for the others.
void describe_kind(const auto&, ServedIndex&) {}

void describe_kind(const layout::GraphDescription& graph, ServedIndex& served) {
  served.degree = graph.max_degree;
  served.code_bits = graph.build.code_bits;
}

void describe_kind(const layout::ClusterDescription& clusters, ServedIndex& served) {
  served.clusters = clusters.geometry.clusters;
  served.code_bits = clusters.geometry.code_bits;
}

ServedIndex describe(const search::SearchIndex& index, const layout::Manifest& manifest,
                     const tiers::Tier& tier, const IndexSessionOptions& options) {
  ServedIndex served;
  const search::RowForm form = search::form_of(manifest, index);
  served.metric = form.metric;
  served.source_type = form.source_type;
  served.stored_type = form.stored_type;
  served.refines = index.second() != nullptr;
  served.dimension = manifest.dimension;
  served.count = manifest.count;
  served.kind = manifest.kind();
  served.layout = manifest.layout_name();
  std::visit([&](const auto& description) { describe_kind(description, served); },
             manifest.description);
  served.tier = options.tier;
  if (const auto attributes = index.attributes(); attributes != nullptr) {
    served.schema = [schema = std::make_shared<const layout::Schema>(attributes->schema())] {
      return schema;
    };
  }
  served.page_search = options.page_search;
  served.generation = options.generation;
  served.manifest_xxh3 = layout::manifest_checksum(layout::manifest_to_json(manifest));
  served.index_bytes = search::index_bytes(manifest) + manifest.second_copy_bytes();
  served.offset_bytes = index.location_bytes();
  served.code_bytes = index.dram_bytes() - served.offset_bytes;
  const search::SearchShape& shape = options.shape;
  if (tier.loads().empty()) served.cache_bytes = shape.cache_bytes * shape.cores;
  if (const auto plan = tier.plan(index, shape)) {
    served.offset_bytes = plan->location;
    served.cache_bytes = plan->caches;
    served.search_bytes = plan->buffers + plan->searches + plan->second;
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

search::SearchShape largest_searches(const RequestLimits& limits, std::uint32_t cores,
                                     std::uint32_t slots) {
  return {.cores = cores,
          .slots = slots,
          .k = std::min(limits.max_k, limits.max_list),
          .list = limits.max_list,
          .width = limits.max_width,
          .probe = limits.max_probe};
}

search::SearchShape with_cache(search::SearchShape shape, std::uint64_t cache_bytes) {
  shape.cache_bytes = cache_bytes / shape.cores;
  return shape;
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
