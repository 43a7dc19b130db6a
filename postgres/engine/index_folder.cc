#include "postgres/engine/index_folder.h"

#include "base/error.h"
#include "base/file_names.h"
#include "base/status_error.h"
#include "base/types.h"
#include "layout/collection/coverage_mark.h"
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace farvec::postgres {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCollection = "collection";
constexpr std::string_view kLeaving = "leaving-";
/// Fewer candidates leave a vertex no choice, and save little of the time of a build.
constexpr std::uint32_t kLeastBuildList = 16;

template <typename Values>
auto value_of(const Values& values, std::int32_t number, const char* what) {
  for (const auto value : values) {
    if (static_cast<std::int32_t>(value) == number) return value;
  }
  throw StatusError(StatusCode::invalid_argument, "{} is the number of no {}", number, what);
}

/// Returns columns with the names that conditions have for them.
layout::Schema schema_of(const AskOpen& asked) {
  std::vector<layout::Column> columns;
  for (const std::uint8_t number : asked.columns) {
    const auto type = static_cast<layout::ColumnType>(number);
    if (number == 0) break;
    if (type > layout::ColumnType::bytes) {
      throw StatusError(StatusCode::invalid_argument, "{} is the number of no type of a column",
                        number);
    }
    columns.push_back({.name = fmt::format("c{}", columns.size() + 1), .type = type});
  }
  return layout::Schema(std::move(columns));
}

/// A full memtable has its share of the memory. More rows make fewer segments, which are searched
/// faster.
std::uint32_t rows_per_memtable(std::size_t row_bytes, std::uint64_t memory) {
  constexpr std::uint64_t kShare = 16;
  constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 20;
  constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
  constexpr std::uint64_t kLinkBytes = 200;  // a row takes about that for its id and neighbours
  constexpr std::uint64_t kLeastRows = 256;
  const std::uint64_t bytes = std::clamp(memory / kShare, kLeastBytes, kMostBytes);
  const std::uint64_t rows = bytes / (row_bytes + kLinkBytes);
  const std::uint64_t usual = layout::CollectionOptions{}.memtable_rows;
  return static_cast<std::uint32_t>(std::clamp(rows, kLeastRows, usual));
}

/// The mark that a folder of this index has.
layout::CoverageMark expected_mark(const fs::path& folder, const IndexName& name) {
  return layout::mark_of(folder / kCollection, to_string(name));
}

void require_own_mark(const fs::path& folder, const IndexName& name) {
  const std::optional<layout::CoverageMark> found = layout::read_coverage(folder);
  if (!found) throw Error("'{}' has no mark of whose it is", folder.string());
  layout::CoverageMark expected = expected_mark(folder, name);
  expected.covered = found->covered;  // what former versions wrote
  if (*found == expected) return;
  throw Error("'{}' is a copy of the folder of {}", folder.string(), found->index);
}

/// Says whether a file has records or vectors, which stay where they are on a disk.
bool has_records(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.starts_with("records.") || name.starts_with("vectors.");
}

/// Returns whether an index reads its records from a disk; false where that cannot be said.
bool stays_on_disk(const fs::path& folder, Places& places) {
  try {
    return places.is_on_disk(layout::read_place(folder));
  } catch (const Error&) {
    return false;
  }
}

/// Returns the bytes of the files below a folder that opening it loads; none where it is going.
std::optional<std::uint64_t> loaded_bytes(const fs::path& folder, Places& places) {
  const bool stays = stays_on_disk(folder, places);
  std::uint64_t bytes = 0;
  std::error_code error;
  fs::recursive_directory_iterator file(folder, error);
  for (; !error && file != fs::recursive_directory_iterator(); file.increment(error)) {
    if (!file->is_regular_file(error) || (stays && has_records(file->path()))) continue;
    bytes += file->file_size(error);
  }
  if (error) return std::nullopt;
  return bytes;
}

}  // namespace

layout::CollectionManifest manifest_for(const AskOpen& asked, std::uint64_t memory) {
  layout::CollectionManifest manifest;
  manifest.source_type = value_of(kElementTypes, asked.type, "type of vectors");
  manifest.metric = value_of(kMetrics, asked.metric, "metric");
  manifest.dimension = asked.dimension;
  manifest.schema = schema_of(asked);
  if (asked.degree != 0) manifest.options.degree = asked.degree;
  if (asked.build_list != 0) manifest.options.list = std::max(asked.build_list, kLeastBuildList);
  manifest.options.layout = layout_of(asked);
  if (asked.code_bits != 0) manifest.options.code_bits = asked.code_bits - 1;
  manifest.options.memtable_rows =
      rows_per_memtable(packed_bytes(manifest.source_type, manifest.dimension), memory);
  return manifest;
}

OpenedFolder open_folder(const fs::path& folder, const IndexName& name, Places& places) {
  require_own_mark(folder, name);
  OpenedFolder opened;
  opened.place = layout::read_place(folder);
  opened.aliases = layout::read_aliases(folder, to_string(name));
  const fs::path collection = folder / kCollection;
  const collection::CollectionAccess access =
      places.access(opened.place, layout::read_collection(collection));
  opened.segments = access.segments;
  opened.collection = std::make_unique<collection::Collection>(collection, access);
  return opened;
}

OpenedFolder make_folder(const fs::path& folder, const IndexName& name, NewIndex made,
                         Places& places) {
  const NewFolders folders(folder);
  try {
    const collection::CollectionAccess& access = places.common();
    collection::Collection::create(folder / kCollection, std::move(made.manifest), layout::as_it_is,
                                   access.logged ? access.log_segment_bytes : 0);
    layout::write_place(folder, made.place);
    layout::write_aliases(folder, to_string(name), {});
    layout::write_coverage(folder, expected_mark(folder, name));
    return open_folder(folder, name, places);
  } catch (...) {
    std::error_code ignored;  // what made it fail is what counts
    fs::remove_all(folder, ignored);
    throw;
  }
}

std::vector<FolderOnDisk> folders_on_disk(const std::vector<IndexFolder>& all, Places& places) {
  std::vector<FolderOnDisk> found;
  std::error_code error;
  for (const IndexFolder& index : all) {
    FolderOnDisk folder{.name = index.name};
    const fs::path manifest = index.path / kCollection / layout::kCollectionFile;
    folder.written_at = fs::last_write_time(manifest, error);
    if (error) continue;
    const std::optional<std::uint64_t> bytes = loaded_bytes(index.path, places);
    if (!bytes) continue;
    folder.bytes = *bytes;
    found.push_back(folder);
  }
  std::sort(found.begin(), found.end(), [](const FolderOnDisk& one, const FolderOnDisk& other) {
    return one.written_at > other.written_at;
  });
  return found;
}

void remove_folder(const fs::path& folder) {
  if (!fs::exists(folder)) return;
  const fs::path leaving = parent_of(folder) / (std::string(kLeaving) + folder.filename().string());
  fs::remove_all(leaving);
  rename_path(folder, leaving);
  fs::remove_all(leaving);
}

void remove_leftovers(const fs::path& all) {
  for (const fs::directory_entry& entry : fs::directory_iterator(all)) {
    if (entry.path().filename().string().starts_with(kLeaving)) fs::remove_all(entry.path());
  }
}

}  // namespace farvec::postgres
