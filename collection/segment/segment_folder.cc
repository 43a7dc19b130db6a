#include "collection/segment/segment_folder.h"

#include <system_error>
#include <utility>

#include "base/error.h"
#include "layout/collection/segment_attributes.h"
#include "layout/collection/segment_ids.h"
#include "search/kinds/index_loader.h"

namespace farvec::collection {
namespace {

std::uint64_t bytes_of_files(const std::filesystem::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  std::filesystem::directory_iterator file(folder, error);
  for (const std::filesystem::directory_iterator end; !error && file != end;) {
    if (file->is_regular_file(error) && !error) bytes += file->file_size(error);
    if (!error) file.increment(error);
  }
  if (error) throw Error("looking into '{}': {}", folder.string(), error.message());
  return bytes;
}

search::RowAttributes read_attributes(const std::filesystem::path& folder,
                                      const layout::SegmentEntry& entry,
                                      const layout::Schema& schema) {
  if (!entry.attributed) return {entry.rows, schema};
  auto file = std::make_unique<const layout::SegmentAttributesFile>(
      folder / layout::kSegmentAttributesFile, entry);
  const layout::Tuples all = file->read(schema);
  return {std::move(file), all.view(), schema};
}

std::unique_ptr<const layout::SecondCopyFile> open_second(const layout::IndexDirectory& index) {
  if (!index.manifest().second_copy) return nullptr;
  return std::make_unique<const layout::SecondCopyFile>(index.path(), index.manifest());
}

}  // namespace

SegmentFolder::SegmentFolder(const std::filesystem::path& folder)
    : directory_(layout::IndexDirectory::open(folder)),
      bytes_(bytes_of_files(folder)),
      second_(open_second(directory_)),
      rows_(directory_, second_.get()) {}

search::SearchIndex SegmentFolder::load_index(const layout::LoadOptions& options,
                                              tiers::NodeSet*) const {
  return search::load_search_index(directory_, options);
}

std::unique_ptr<tiers::IndexRecords> SegmentFolder::records(
    const layout::LoadOptions& options) const {
  return std::make_unique<tiers::IndexRecords>(directory_, options);
}

std::shared_ptr<Segment> open_segment(const std::filesystem::path& folder,
                                      const layout::SegmentEntry& entry,
                                      const layout::Schema& schema, const SegmentAccess& access) {
  auto bytes = std::make_unique<const SegmentFolder>(folder);
  RowIds ids(layout::read_segment_ids(folder / layout::kSegmentIdsFile, entry));
  if (bytes->manifest().count != entry.rows) {
    throw Error("'{}' has {} vectors where the collection has {}: it is another index",
                folder.string(), bytes->manifest().count, entry.rows);
  }
  return std::make_shared<Segment>(
      entry.number, SegmentFacts{std::move(ids), read_attributes(folder, entry, schema)},
      std::move(bytes), access);
}

}  // namespace farvec::collection
