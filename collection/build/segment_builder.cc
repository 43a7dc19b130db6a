#include "collection/build/segment_builder.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "collection/build/segment_maker.h"
#include "collection/build/segment_writer.h"
#include "collection/build/tenant_order.h"
#include "collection/state/kept_rows.h"
#include "dataset/vector_set.h"
#include "indexing/row_order.h"
#include "indexing/source.h"

namespace farvec::collection {
namespace {

/// It is called before the work, because a segment that no memory node takes would be made for
/// nothing.
void require_place(const SegmentRecipe& recipe) {
  if (recipe.publisher != nullptr) recipe.publisher->require_node();
}

const SegmentMaker& maker_for(const SegmentRecipe& recipe) {
  return maker_of(recipe.manifest->options);
}

/// Returns the rows of a part that are not out of it.
ReplacedPart live_rows(const void* part, std::uint32_t count, const RowSet& out) {
  ReplacedPart live{part, {}};
  live.rows.reserve(count - out.count());
  for (NodeId row = 0; row < count; ++row) {
    if (!out.contains(row)) live.rows.push_back(row);
  }
  return live;
}

void append_nulls(std::size_t rows, layout::Tuples& attributes) {
  for (std::size_t i = 0; i < rows; ++i) attributes.append(layout::null_tuple());
}

/// Appends the attributes of some rows of a segment.
void append_attributes(const View::Bulk& bulk, std::span<const NodeId> rows,
                       layout::Tuples& attributes) {
  const layout::Tuples all = bulk.segment->attributes().read_all();
  for (const NodeId row : rows) {
    const std::span<const std::byte> updated = bulk.updates->find(row);
    if (!updated.empty()) {
      attributes.append(updated);
    } else {
      attributes.append(all.count() == 0 ? layout::null_tuple() : all.view().row(row));
    }
  }
}

/// Owns what RowFacts refer to.
struct GatheredFacts {
  std::vector<std::uint64_t> ids;
  layout::Tuples attributes;

  RowFacts facts() const { return {ids, attributes.view()}; }
};

/// Row i of the result is row order[i].
GatheredFacts picked(const RowFacts& facts, std::span<const NodeId> order) {
  GatheredFacts picked;
  picked.ids.reserve(order.size());
  for (const NodeId row : order) {
    picked.ids.push_back(facts.ids[row]);
    picked.attributes.append(facts.attributes.row(row));
  }
  return picked;
}

/// Element i is rows[order[i]]; an empty order leaves all where they are.
std::vector<NodeId> in_order(std::vector<NodeId> rows, std::span<const NodeId> order) {
  if (order.empty()) return rows;
  std::vector<NodeId> ordered;
  ordered.reserve(rows.size());
  for (const NodeId number : order) ordered.push_back(rows[number]);
  return ordered;
}

std::vector<const View::Bulk*> largest_first(const View& part) {
  std::vector<const View::Bulk*> bulks;
  for (const View::Bulk& bulk : part.segments) bulks.push_back(&bulk);
  std::stable_sort(bulks.begin(), bulks.end(),
                   [](const View::Bulk* a, const View::Bulk* b) { return a->live() > b->live(); });
  return bulks;
}

}  // namespace

std::shared_ptr<Segment> build_segment(const changes::RowBatch& batch,
                                       const SegmentRecipe& recipe) {
  require_place(recipe);
  const layout::CollectionManifest& manifest = *recipe.manifest;
  layout::Manifest description =
      indexing::describe_source({recipe.name, recipe.name}, batch.rows, manifest.metric);
  dataset::VectorSet stored = kept_copy(batch.rows, manifest, recipe.threads);
  layout::Tuples nulls;
  if (batch.attributes.count() == 0 && !recipe.schema->empty()) {
    append_nulls(batch.rows.count, nulls);
  }
  RowFacts facts{batch.ids, nulls.count() > 0 ? nulls.view() : batch.attributes};
  GatheredFacts ordered;
  if (const auto order = tenant_order(*recipe.schema, facts.attributes); !order.empty()) {
    stored = indexing::picked_rows(stored.view(), order, recipe.threads);
    ordered = picked(facts, order);
    facts = ordered.facts();
  }
  return maker_for(recipe).from_rows({std::move(description), stored.view()}, facts, recipe);
}

Replacement build_segment(const ViewPointer& part, Memtable& memtable,
                          const SegmentRecipe& recipe) {
  const View::Fresh& fresh = part->memtables.front();
  FARVEC_CHECK(fresh.memtable.get() == &memtable && fresh.count == memtable.size(),
               "a segment is made of a memtable to which no more rows come");
  Replacement result{.of = part, .parts = {}, .segment = nullptr};
  result.parts.push_back(live_rows(&memtable, fresh.count, *fresh.out));
  if (fresh.live() == 0) return result;
  require_place(recipe);
  const layout::CollectionManifest& manifest = *recipe.manifest;
  const std::vector<NodeId>& live = result.parts.front().rows;
  GatheredFacts facts;
  for (const NodeId row : live) {
    facts.ids.push_back(memtable.id(row));
    if (!recipe.schema->empty()) facts.attributes.append(fresh.attributes(row));
  }
  const std::vector<NodeId> order = tenant_order(*recipe.schema, facts.attributes.view());
  if (!order.empty()) facts = picked(facts.facts(), order);
  result.places = places_in(order);
  const std::vector<NodeId> ordered = in_order(live, order);
  dataset::VectorSet rows(ordered.size(), manifest.dimension, manifest.stored_type);
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    std::memcpy(rows.mutable_row(i), memtable.row(ordered[i]), rows.view().row_bytes());
  }
  indexing::Source source{
      indexing::describe_source({recipe.name, recipe.name}, rows.view(), manifest.metric),
      rows.view()};
  source.manifest.source_type = manifest.source_type;
  result.segment = maker_for(recipe).from_memtable(
      std::move(source), {memtable, *fresh.out, ordered, facts.facts()}, recipe);
  return result;
}

Replacement merge_segments(const ViewPointer& part, const SegmentRecipe& recipe) {
  const std::vector<const View::Bulk*> bulks = largest_first(*part);
  FARVEC_CHECK(!bulks.empty());
  Replacement result{.of = part, .parts = {}, .segment = nullptr};
  GatheredFacts facts;
  for (const View::Bulk* bulk : bulks) {
    const Segment& segment = *bulk->segment;
    result.parts.push_back(live_rows(&segment, segment.rows(), *bulk->out));
    for (const NodeId row : result.parts.back().rows) facts.ids.push_back(segment.ids().of(row));
    if (recipe.schema->empty()) continue;
    append_attributes(*bulk, result.parts.back().rows, facts.attributes);
  }
  if (facts.ids.empty()) return result;
  require_place(recipe);
  const std::vector<NodeId> order = tenant_order(*recipe.schema, facts.attributes.view());
  if (!order.empty()) facts = picked(facts.facts(), order);
  result.places = places_in(order);
  recipe.watch->enter(BuildPhase::reading);
  result.segment = maker_for(recipe).from_segments({bulks, order, facts.facts()}, recipe);
  return result;
}

}  // namespace farvec::collection
