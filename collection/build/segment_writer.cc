#include "collection/build/segment_writer.h"

#include <cstring>

#include "layout/collection/segment_ids.h"
#include "layout/index/index_removal.h"

namespace farvec::collection {
namespace {

/// Removes a folder whose segment was not finished.
class UnfinishedFolder {
 public:
  explicit UnfinishedFolder(const std::filesystem::path& folder) : folder_(folder) {}
  ~UnfinishedFolder() {
    // When it cannot be removed, the next open() of the collection removes it.
    if (!finished_) layout::remove_index_with_warning(folder_);
  }
  UnfinishedFolder(const UnfinishedFolder&) = delete;
  UnfinishedFolder& operator=(const UnfinishedFolder&) = delete;
  void finish() { finished_ = true; }

 private:
  const std::filesystem::path folder_;
  bool finished_ = false;
};

}  // namespace

std::shared_ptr<Segment> write_segment(const WriteIndex& write_index,
                                       std::span<const std::uint64_t> ids,
                                       const SegmentRecipe& recipe) {
  BuildWatch* const watch = recipe.watch;
  UnfinishedFolder unfinished(recipe.folder);
  watch->enter(BuildPhase::writing);
  write_index({.overwrite = false,
               .threads = recipe.threads,
               .quiet = true,
               .on_chunk = [watch](std::uint64_t bytes) { watch->moved(bytes); },
               .interrupted = [watch] { return watch->interrupted(); }});
  const layout::SegmentEntry entry{.number = recipe.number, .rows = ids.size()};
  layout::write_segment_ids(recipe.folder / layout::kSegmentIdsFile, entry, ids);
  auto segment = std::make_shared<Segment>(recipe.folder, entry, recipe.access);
  segment->drop();  // until a manifest is going to name it
  segment->publish();
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
