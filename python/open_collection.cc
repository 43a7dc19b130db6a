#include "python/open_collection.h"

#include <algorithm>
#include <utility>

#include "attributes/condition.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "collection/read/list_rows.h"
#include "collection/search/collection_part.h"
#include "collection/segment/segment_access.h"
#include "collection/write/facts.h"
#include "layout/collection/collection_manifest.h"
#include "python/errors.h"
#include "python/pooled_search.h"
#include "search/core/queries.h"
#include "wal/durability_option.h"

namespace farvec::python {
namespace {

CollectionOpening resolved(const std::string& folder, CollectionOpening opening) {
  const layout::CollectionOptions options = layout::read_collection(folder).options;
  if (opening.tier.empty()) opening.tier = collection::usual_tier(options);
  if (!opening.second_tier.empty() && !options.store) {
    throw_invalid("second_tier is for a collection with store=");
  }
  if (!opening.memory_budget.empty() && !options.in_pages()) {
    throw_invalid("memory_budget is for a collection of slotted pages");
  }
  if (opening.concurrency == 0) opening.concurrency = resolve_threads(0);
  opening.build_threads = resolve_threads(opening.build_threads);
  return opening;
}

collection::CollectionAccess access_of(const CollectionOpening& opening) {
  wal::LogOptions log;
  parsed(
      "durability", [&](const std::string& text) { wal::parse_durability(text, log); },
      opening.durability);
  collection::CollectionAccess access;
  access.segments = collection::SegmentAccess::on(opening.tier);
  if (!opening.second_tier.empty()) {
    collection::set_second_tier(access.segments, opening.second_tier);
  }
  search::SearchShape& shape = access.segments.shape;
  shape.cores = opening.concurrency;
  shape.slots = opening.slots;
  shape.k = shape.list = opening.max_list;
  shape.width = opening.max_width;
  shape.probe = opening.max_probe;
  parsed(
      "memory_budget",
      [&](const std::string& budget) {
        search::set_shared_pools(shape, {.memory_budget = budget});
      },
      opening.memory_budget);
  access.segments.threads = opening.build_threads;
  access.durability = log.durability;
  access.interval_us = log.interval_us;
  access.build_threads = opening.build_threads;
  access.link = true;
  return access;
}

}  // namespace

OpenCollection::OpenCollection(const std::string& folder, const CollectionOpening& opening)
    : folder_(folder),
      opening_(resolved(folder, opening)),
      collection_(folder, access_of(opening_)),
      pool_(
          [this] {
            return collection::make_collection_core([this] { return collection_.view(); },
                                                    opening_.slots);
          },
          opening_.concurrency) {}

search::SearchBounds OpenCollection::bounds() const {
  return {.kind = collection_.shape().options.kind,
          .k = opening_.max_list,
          .list = opening_.max_list,
          .width = opening_.max_width,
          .clusters = opening_.max_probe,
          .refines = collection_.shape().options.store.has_value()};
}

Answer OpenCollection::search(const VectorView& queries, const Call& call) {
  const layout::CollectionManifest& shape = collection_.shape();
  const search::SearchParameters parameters =
      search::check_limits(call.asked, bounds(), kArgumentNames);
  const std::vector<std::byte> stored = search::compared_queries(
      queries, {shape.metric, shape.source_type, shape.stored_type, shape.dimension});
  VectorView rows = queries;
  if (!stored.empty()) {
    rows = packed_view(stored.data(), queries.count, queries.dimension, shape.stored_type);
  }
  const std::shared_ptr<const layout::Schema> schema = collection_.view()->schema;
  attributes::ConditionPointer condition;
  if (!call.asked.filter.empty()) {
    condition = collection::parse_filter(call.asked.filter, *schema);
  }
  return pooled_search(pool_, 1, rows, {parameters, call, true, condition.get(), *schema});
}

nlohmann::ordered_json OpenCollection::describe() const {
  const layout::CollectionManifest& shape = collection_.shape();
  nlohmann::ordered_json facts{{"collection", folder_},
                               {"kind", "collection"},
                               {"tier", opening_.tier},
                               {"durability", opening_.durability}};
  if (collection_.shape().options.store) {
    facts["second_tier"] = opening_.second_tier.empty() ? opening_.tier : opening_.second_tier;
  }
  if (!opening_.memory_budget.empty()) facts["memory_budget"] = opening_.memory_budget;
  if (const std::uint64_t left_out = collection_.recovery().left_out; left_out > 0) {
    facts["log_rows_left_out"] = left_out;
  }
  facts.update(collection::shape_json(shape));
  facts.update(collection_.now());
  return facts;
}

}  // namespace farvec::python
