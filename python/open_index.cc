#include "python/open_index.h"

#include <algorithm>
#include <utility>

#include "base/parallel.h"
#include "base/version.h"
#include "python/pooled_search.h"
#include "search/core/queries.h"
#include "search/filter/asked_condition.h"
#include "search/index/row_attributes.h"
#include "search/kinds/index_loader.h"

namespace farvec::python {
namespace {

OpenOptions resolved(OpenOptions options) {
  options.threads = resolve_threads(options.threads);
  if (options.concurrency == 0) {
    options.concurrency = std::max(1u, resolve_threads(0) / options.threads);
  }
  return options;
}

search::SearchShape shape_of(const OpenOptions& options, const tiers::TierSpec& spec,
                             const layout::Manifest& manifest) {
  search::SearchShape shape{.cores = options.threads * options.concurrency,
                            .slots = options.slots,
                            .cache_bytes = options.cache_bytes,
                            .k = options.max_list,
                            .list = options.max_list,
                            .width = options.max_width,
                            .probe = options.max_probe};
  if (manifest.is_cluster()) {
    shape.probe = std::min(shape.probe, manifest.cluster().geometry.clusters);
  }
  if (spec.traits().disk) shape.disk = search::parse_disk_choice(options.disk, manifest);
  return shape;
}

layout::Schema schema_of(const search::SearchIndex& index) {
  return index.attributes() == nullptr ? layout::Schema() : index.attributes()->schema();
}

}  // namespace

OpenIndex::OpenIndex(const std::string& path, const OpenOptions& options)
    : options_(resolved(options)),
      directory_(layout::IndexDirectory::open(path)),
      index_(search::load_search_index(directory_, {.quiet = true})),
      form_(search::form_of(manifest(), index_)),
      records_(directory_),
      spec_(tiers::parse_tier(options_.tier)),
      tier_(*spec_,
            {.memory = &records_,
             .index = &index_,
             .second_tier =
                 options_.second_tier.empty() ? nullptr : tiers::parse_tier(options_.second_tier),
             .remote = {.tls = options_.tls, .cores = options_.threads * options_.concurrency}}),
      shape_(shape_of(options_, *spec_, manifest())),
      cores_(tier_.prepare(shape_)),
      pool_([this] { return cores_->make_core(); }, shape_.cores) {}

search::SearchBounds OpenIndex::bounds() const {
  search::SearchBounds bounds = search::limits_of(manifest());
  bounds.list = shape_.list;
  // A graph's list holds the results: when it would have to be too long, the message says that k is
  // too large, also where the list was not given.
  if (manifest().is_graph()) bounds.k = shape_.list;
  bounds.width = shape_.width;
  bounds.clusters = shape_.probe;
  return bounds;
}

measure::SearchReach OpenIndex::reach() const {
  return {.bounds = bounds(),
          .clusters_have_lists = manifest().has_member_codes() || index_.second() != nullptr};
}

bool OpenIndex::has_exact_distances() const {
  const search::DiskChoice disk =
      search::resolve_rerank(shape_.disk, manifest(), shape_.k, shape_.list);
  return search::has_exact_distances(manifest(), index_, *disk.rerank);
}

Answer OpenIndex::search(const VectorView& queries, const Call& call) {
  const search::SearchParameters parameters =
      search::check_limits(call.asked, bounds(), kArgumentNames);
  const std::vector<std::byte> stored = search::compared_queries(queries, form_);
  VectorView rows = queries;
  if (!stored.empty()) {
    rows = packed_view(stored.data(), queries.count, queries.dimension, form_.stored_type);
  }
  const auto condition = search::asked_condition(index_, call.asked.filter, "filter");
  return pooled_search(pool_, options_.threads, rows,
                       {parameters, call, false, condition.get(), schema_of(index_)});
}

nlohmann::ordered_json OpenIndex::describe() const {
  const layout::Manifest& m = manifest();
  nlohmann::ordered_json facts{{"index", directory_.path().string()},
                               {"kind", to_string(m.kind())},
                               {"layout", m.layout_name()},
                               {"dataset", m.dataset.name},
                               {"metric", to_string(form_.metric)},
                               {"type", to_string(form_.source_type)},
                               {"stored_type", to_string(m.stored_type)},
                               {"dimension", m.dimension},
                               {"count", m.count}};
  if (m.is_graph()) {
    facts["degree"] = m.graph().build.degree;
    facts["average_degree"] = m.average_degree();
    facts["code_bits"] = m.graph().build.code_bits;
  } else {
    facts["clusters"] = m.cluster().geometry.clusters;
    facts["replicas"] = m.cluster().build.replicas;
  }
  facts["tier"] = spec_->name();
  facts["model"] = tier_.model();
  if (index_.second() != nullptr) facts["second_copy"] = tier_.second_model();
  facts["slots"] = shape_.slots;
  facts["threads"] = options_.threads;
  facts["concurrency"] = options_.concurrency;
  facts["index_bytes"] = search::index_bytes(m) + m.second_copy_bytes();
  facts["dram_bytes"] = index_.dram_bytes();
  facts["version"] = version();
  facts["commit"] = commit();
  return facts;
}

}  // namespace farvec::python
