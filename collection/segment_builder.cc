#include "collection/segment_builder.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/parallel.h"
#include "dataset/vector_set.h"
#include "indexing/graph_recipe.h"
#include "indexing/merge_recipe.h"
#include "indexing/source.h"
#include "indexing/stored_graph.h"
#include "layout/collection/segment_ids.h"

namespace farvec::collection {
namespace {

graph::VamanaOptions vamana_options(const SegmentRecipe& recipe) {
  const layout::CollectionOptions& options = recipe.manifest->options;
  graph::VamanaOptions vamana;
  vamana.degree = options.degree;
  vamana.list = options.list;
  vamana.alpha = static_cast<float>(options.alpha);
  vamana.threads = recipe.threads;
  vamana.quiet = true;
  vamana.interrupted = [watch = recipe.watch] { return watch->interrupted(); };
  vamana.advanced = [watch = recipe.watch](std::uint64_t rows) { watch->linked(rows); };
  return vamana;
}

/// Until others have linked the rows that they are at.
constexpr auto kLinkLook = std::chrono::microseconds(100);

/// Removes a folder whose segment was not finished.
class UnfinishedFolder {
 public:
  explicit UnfinishedFolder(const std::filesystem::path& folder) : folder_(folder) {}
  ~UnfinishedFolder() {
    std::error_code ignored;  // the next open() of the collection removes it
    if (!finished_) std::filesystem::remove_all(folder_, ignored);
  }
  UnfinishedFolder(const UnfinishedFolder&) = delete;
  UnfinishedFolder& operator=(const UnfinishedFolder&) = delete;
  void finish() { finished_ = true; }

 private:
  const std::filesystem::path folder_;
  bool finished_ = false;
};

/// Before the work: a segment that no memory node takes is made for nothing.
void require_place(const SegmentRecipe& recipe) {
  if (recipe.access.publisher != nullptr) recipe.access.publisher->require_node();
}

/// Writes the graph and the ids, opens them, and brings them to memory nodes where segments lie
/// there.
std::shared_ptr<Segment> write_segment(const indexing::BuiltGraph& built,
                                       std::span<const std::uint64_t> ids,
                                       const SegmentRecipe& recipe) {
  const layout::CollectionOptions& options = recipe.manifest->options;
  BuildWatch* const watch = recipe.watch;
  UnfinishedFolder unfinished(recipe.folder);
  watch->enter(BuildPhase::writing);
  indexing::write_graph(
      recipe.folder, built,
      {.layout = options.layout, .code_bits = options.code_bits, .record_checksum = false},
      {.overwrite = false,
       .threads = recipe.threads,
       .quiet = true,
       .on_chunk = [watch](std::uint64_t bytes) { watch->moved(bytes); },
       .interrupted = [watch] { return watch->interrupted(); }});
  const layout::SegmentEntry entry{.number = recipe.number, .rows = ids.size()};
  layout::write_segment_ids(recipe.folder / layout::kSegmentIdsFile, entry, ids);
  auto segment = std::make_shared<Segment>(recipe.folder, entry, recipe.access);
  segment->drop();  // until a manifest is to name it
  segment->publish();
  unfinished.finish();
  return segment;
}

/// Beside others that link.
void link_rest(Memtable& memtable, const SegmentRecipe& recipe) {
  const unsigned workers = resolve_threads(recipe.threads);
  parallel_for(workers, 1, workers, [&](std::size_t, std::size_t, unsigned) {
    LinkScratch scratch;
    while (memtable.unlinked() > 0) {
      if (recipe.watch->interrupted()) throw WorkInterrupted();
      if (!memtable.link_next(scratch)) std::this_thread::sleep_for(kLinkLook);
    }
  });
}

/// The rows of a part that are not out of it.
ReplacedPart live_rows(const void* part, std::uint32_t count, const RowSet& out) {
  ReplacedPart live{part, {}};
  live.rows.reserve(count - out.count());
  for (NodeId row = 0; row < count; ++row) {
    if (!out.contains(row)) live.rows.push_back(row);
  }
  return live;
}

indexing::StoredGraph read_segment(const Segment& segment, const SegmentRecipe& recipe) {
  return indexing::read_graph(
      segment.directory(),
      {.threads = recipe.threads,
       .quiet = true,
       .on_chunk = [watch = recipe.watch](std::uint64_t bytes) { watch->moved(bytes); }});
}

/// The live rows of all but the largest, one segment after the other.
dataset::VectorSet rows_of(std::span<const View::Bulk* const> others, const SegmentRecipe& recipe) {
  std::uint64_t count = 0;
  for (const View::Bulk* bulk : others) count += bulk->live();
  dataset::VectorSet rows(count, recipe.manifest->dimension, recipe.manifest->stored_type);
  std::size_t next = 0;
  for (const View::Bulk* bulk : others) {
    const indexing::StoredGraph stored = read_segment(*bulk->segment, recipe);
    for (NodeId row = 0; row < bulk->segment->rows(); ++row) {
      if (bulk->out->contains(row)) continue;
      std::memcpy(rows.mutable_row(next++), stored.rows.view().row(row), rows.view().row_bytes());
    }
  }
  return rows;
}

std::vector<const View::Bulk*> largest_first(const View& part) {
  std::vector<const View::Bulk*> bulks;
  for (const View::Bulk& bulk : part.segments) bulks.push_back(&bulk);
  std::stable_sort(bulks.begin(), bulks.end(),
                   [](const View::Bulk* a, const View::Bulk* b) { return a->live() > b->live(); });
  return bulks;
}

}  // namespace

std::shared_ptr<Segment> build_segment(const VectorView& rows, std::span<const std::uint64_t> ids,
                                       const SegmentRecipe& recipe) {
  require_place(recipe);
  const layout::CollectionManifest& manifest = *recipe.manifest;
  layout::Manifest description =
      indexing::describe_source({recipe.name, recipe.name}, rows, manifest.metric);
  const dataset::VectorSet stored = indexing::stored_copy(rows, manifest.metric, recipe.threads);
  return write_segment(
      indexing::build_graph({std::move(description), stored.view()}, vamana_options(recipe)), ids,
      recipe);
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
  dataset::VectorSet rows(fresh.live(), manifest.dimension, manifest.stored_type);
  std::vector<std::uint64_t> ids;
  for (const NodeId row : result.parts.front().rows) {
    std::memcpy(rows.mutable_row(ids.size()), memtable.row(row), rows.view().row_bytes());
    ids.push_back(memtable.id(row));
  }
  indexing::Source source{
      indexing::describe_source({recipe.name, recipe.name}, rows.view(), manifest.metric),
      rows.view()};
  source.manifest.source_type = manifest.source_type;
  link_rest(memtable, recipe);
  result.segment =
      write_segment(indexing::adopt_graph(std::move(source), {memtable.graph(), *fresh.out},
                                          vamana_options(recipe)),
                    ids, recipe);
  return result;
}

Replacement merge_segments(const ViewPointer& part, const SegmentRecipe& recipe) {
  const std::vector<const View::Bulk*> bulks = largest_first(*part);
  FARVEC_CHECK(!bulks.empty());
  Replacement result{.of = part, .parts = {}, .segment = nullptr};
  std::vector<std::uint64_t> ids;
  for (const View::Bulk* bulk : bulks) {
    const Segment& segment = *bulk->segment;
    result.parts.push_back(live_rows(&segment, segment.rows(), *bulk->out));
    for (const NodeId row : result.parts.back().rows) ids.push_back(segment.id(row));
  }
  if (ids.empty()) return result;
  require_place(recipe);
  recipe.watch->enter(BuildPhase::reading);
  indexing::GraphChanges changes{
      *bulks.front()->out,
      dataset::VectorSet(0, recipe.manifest->dimension, recipe.manifest->stored_type)};
  if (bulks.size() > 1) changes.more = rows_of(std::span(bulks).subspan(1), recipe);
  indexing::StoredGraph largest = read_segment(*bulks.front()->segment, recipe);
  recipe.watch->enter(BuildPhase::linking);
  indexing::StoredGraph merged =
      indexing::merge_graph(std::move(largest), std::move(changes), vamana_options(recipe));
  result.segment = write_segment(std::move(merged).built(), ids, recipe);
  return result;
}

}  // namespace farvec::collection
