#include "collection/build/segment_writer.h"

#include <cstring>

#include "collection/segment/segment_folder.h"
#include "layout/collection/segment_attributes.h"
#include "layout/collection/segment_ids.h"
#include "layout/index/index_removal.h"

namespace farvec::collection {
namespace {

/// Removes the folder of a segment that was not finished, which nodes are not to have either.
class Unfinished {
 public:
  explicit Unfinished(const SegmentRecipe& recipe) : recipe_(recipe) {}
  ~Unfinished() {
    if (finished_) return;
    if (recipe_.publisher != nullptr) recipe_.publisher->forget(recipe_.number);
    // When it cannot be removed, the next open() of the collection removes it.
    layout::remove_index_with_warning(recipe_.folder);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  void finish() { finished_ = true; }

 private:
  const SegmentRecipe& recipe_;
  bool finished_ = false;
};

}  // namespace

std::shared_ptr<Segment> write_segment(const WriteIndex& write_index, const RowFacts& facts,
                                       const SegmentRecipe& recipe) {
  BuildWatch* const watch = recipe.watch;
  Unfinished unfinished(recipe);
  watch->enter(BuildPhase::writing);
  write_index({.overwrite = false,
               .threads = recipe.threads,
               .quiet = true,
               .on_chunk = [watch](std::uint64_t bytes) { watch->moved(bytes); },
               .interrupted = [&recipe] { return recipe.interrupted(); }});
  const layout::Schema& schema = *recipe.schema;
  const layout::SegmentEntry entry{
      .number = recipe.number, .rows = facts.ids.size(), .attributed = !schema.empty()};
  layout::write_segment_ids(recipe.folder / layout::kSegmentIdsFile, entry, facts.ids);
  if (entry.attributed) {
    layout::write_segment_attributes(recipe.folder / layout::kSegmentAttributesFile, entry,
                                     facts.attributes);
  }
  std::shared_ptr<Segment> segment = open_segment(recipe.folder, entry, schema, recipe.access);
  if (recipe.publisher != nullptr) {
    recipe.publisher->want(*segment);
    recipe.publisher->publish(recipe.number);
  }
  unfinished.finish();
  return segment;
}

layout::LoadOptions load_options(const SegmentRecipe& recipe) {
  return {.threads = recipe.threads,
          .quiet = true,
          .on_chunk = [watch = recipe.watch](std::uint64_t bytes) { watch->moved(bytes); }};
}

dataset::VectorSet rows_of_all(std::span<const View::Bulk* const> segments,
                               const SegmentRecipe& recipe,
                               const std::function<dataset::VectorSet(const Segment&)>& read) {
  std::uint64_t count = 0;
  for (const View::Bulk* bulk : segments) count += bulk->live();
  dataset::VectorSet rows(count, recipe.manifest->dimension, recipe.manifest->stored_type);
  std::size_t next = 0;
  for (const View::Bulk* bulk : segments) {
    const dataset::VectorSet stored = read(*bulk->segment);
    for (NodeId row = 0; row < bulk->segment->rows(); ++row) {
      if (bulk->out->contains(row)) continue;
      std::memcpy(rows.mutable_row(next++), stored.view().row(row), rows.view().row_bytes());
    }
  }
  return rows;
}

}  // namespace farvec::collection
