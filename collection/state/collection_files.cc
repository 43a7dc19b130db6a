#include "collection/state/collection_files.h"

#include <spdlog/spdlog.h>
#include <xxhash.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/output_file.h"
#include "collection/segment/segment_folder.h"
#include "layout/collection/catalogue.h"
#include "layout/collection/collection_format.h"
#include "layout/collection/out_file.h"
#include "layout/index/index_removal.h"

namespace farvec::collection {
namespace {

/// Removes a file of rows that are out, or what it was when its writer was killed.
void remove_with_warning(const std::filesystem::path& path) {
  std::error_code error;
  const auto kind = std::filesystem::symlink_status(path, error).type();
  if (kind == std::filesystem::file_type::directory) {
    return layout::remove_index_with_warning(path);
  }
  if (kind == std::filesystem::file_type::regular) std::filesystem::remove(path, error);
  if (error && error != std::errc::no_such_file_or_directory) {
    spdlog::warn("cannot remove '{}': {}", path.string(), error.message());
  }
}

/// The end of the name of a file or a folder that is being written.
constexpr std::string_view kPartial = ".partial";

/// Returns the intended name: folders are NAME.partial, files NAME.DIGITS.partial (OutputFile).
std::string_view before_partial(std::string_view name) {
  constexpr std::size_t kDigits = 16;
  if (!name.ends_with(kPartial)) return name;
  name.remove_suffix(kPartial.size());
  const std::size_t dot = name.rfind('.');
  const bool of_file = dot != std::string_view::npos && name.size() - dot - 1 == kDigits;
  return of_file ? name.substr(0, dot) : name;
}

}  // namespace

CollectionFiles::CollectionFiles(const std::filesystem::path& folder,
                                 const layout::CollectionManifest& manifest,
                                 std::shared_ptr<SegmentPublisher> publisher)
    : folder_(folder / layout::kCollectionSegmentsFolder),
      schema_(manifest.schema),
      publisher_(std::move(publisher)) {
  for (const layout::SegmentEntry& entry : manifest.segments) saved_[entry.number].entry = entry;
}

std::filesystem::path CollectionFiles::segment_folder(std::uint64_t number) const {
  return folder_ / layout::segment_folder_name(number);
}

std::filesystem::path CollectionFiles::out_path(const layout::SegmentEntry& entry) const {
  return folder_ / layout::out_file_name(entry.number, entry.out_version);
}

std::vector<View::Bulk> CollectionFiles::open(const SegmentAccess& access, const View& known) {
  std::vector<View::Bulk> parts;
  for (auto& [number, saved] : saved_) {
    std::shared_ptr<Segment> segment = find_segment(known, number);
    if (segment == nullptr) {
      segment = open_segment(segment_folder(number), saved.entry, schema_, access);
      if (publisher_ != nullptr) publisher_->want(*segment);
    }
    saved.out = std::make_shared<const RowSet>(
        saved.entry.out_version == 0 ? RowSet()
                                     : layout::read_out_file(out_path(saved.entry), saved.entry));
    parts.push_back({std::move(segment), saved.out});
  }
  return parts;
}

bool CollectionFiles::is_stray(const std::string& name) const {
  const std::optional<layout::SegmentName> what = layout::parse_segment_name(before_partial(name));
  if (!what) return false;
  if (name.ends_with(kPartial)) return true;
  const auto known = saved_.find(what->number);
  return known == saved_.end() ||
         (what->out_version && *what->out_version != known->second.entry.out_version);
}

std::uint64_t CollectionFiles::remove_strays() const {
  std::uint64_t free_number = 0;
  std::error_code error;
  std::vector<std::filesystem::path> strays;
  for (std::filesystem::directory_iterator at(folder_, error), end; !error && at != end;
       at.increment(error)) {
    if (is_stray(at->path().filename().string())) strays.push_back(at->path());
  }
  if (error) spdlog::warn("cannot look into '{}': {}", folder_.string(), error.message());
  for (const std::filesystem::path& path : strays) {
    remove_with_warning(path);
    if (!std::filesystem::exists(path, error)) continue;
    const auto name = layout::parse_segment_name(before_partial(path.filename().string()));
    if (name) free_number = std::max(free_number, name->number + 1);
  }
  return free_number;
}

CollectionFiles::Saved CollectionFiles::save_out(const View::Bulk& bulk,
                                                 std::uint64_t version) const {
  const auto known = saved_.find(bulk.segment->number());
  if (known != saved_.end() && known->second.out == bulk.out) return known->second;
  layout::SegmentEntry entry{.number = bulk.segment->number(),
                             .rows = bulk.segment->rows(),
                             .attributed = bulk.segment->attributes().has_file()};
  if (!bulk.out->empty()) {
    entry.out_version = unused_version(entry.number, version);
    entry.out_count = bulk.out->count();
    layout::write_out_file(out_path(entry), entry, *bulk.out);
  }
  return {entry, bulk.out};
}

/// Returns the greatest version up to `version` that no manifest may name for the segment: what is
/// written under another name would not be there for that manifest after a kill. Changes that are
/// replayed from the log may put rows out again at the version that is saved.
std::uint64_t CollectionFiles::unused_version(std::uint64_t number, std::uint64_t version) const {
  const auto saved = saved_.find(number);
  const std::uint64_t named = saved == saved_.end() ? 0 : saved->second.entry.out_version;
  while (version > 0 && (version == named || former_.contains({number, version}))) --version;
  if (version > 0) return version;
  throw Error(
      "every version of the rows of segment {} that are out may be in use: try again after "
      "the next change",
      number);
}

CollectionFiles::Name CollectionFiles::name_of(const layout::SegmentEntry& entry) {
  return {entry.number, entry.out_version};
}

bool CollectionFiles::write(const View& view, layout::CollectionManifest manifest,
                            std::map<std::uint64_t, Saved>& next) const {
  manifest.segments.clear();
  for (const View::Bulk& bulk : view.segments) {
    const Saved& saved = next[bulk.segment->number()] = save_out(bulk, view.version);
    manifest.segments.push_back(saved.entry);
  }
  layout::write_collection(folder_.parent_path(), manifest);
  return publish(view, manifest);
}

bool CollectionFiles::publish(const View& view, const layout::CollectionManifest& manifest) const {
  if (publisher_ == nullptr) return true;
  const std::filesystem::path folder = folder_.parent_path();
  layout::Catalogue catalogue{manifest, {}};
  for (const View::Bulk& bulk : view.segments) {
    const auto contents = publisher_->contents(bulk.segment->number());
    catalogue.segments.push_back({contents.index, contents.ids, *bulk.out});
  }
  const std::vector<std::byte> bytes = layout::encode_catalogue(catalogue);
  const std::filesystem::path path = folder / layout::kCatalogueFile;
  OutputFile file(path, bytes.size());
  file.append(bytes.data(), bytes.size());
  file.commit();
  const std::size_t holders =
      publisher_->publish_catalogue({.name = folder.filename(),
                                     .revision = manifest.revision,
                                     .path = path,
                                     .bytes = bytes.size(),
                                     .checksum = XXH3_64bits(bytes.data(), bytes.size())});
  return holders > 0 || manifest.log_on_nodes == 0;
}

void CollectionFiles::remove_out_unless_saved(const Name& name) const {
  const auto [number, out_version] = name;
  const auto kept = saved_.find(number);
  if (out_version == 0 || (kept != saved_.end() && name_of(kept->second.entry) == name)) return;
  remove_with_warning(folder_ / layout::out_file_name(number, out_version));
}

void CollectionFiles::remove_segment(std::uint64_t number) const {
  if (publisher_ != nullptr) publisher_->forget(number);
  remove_with_warning(segment_folder(number));
}

bool CollectionFiles::save(const View& view, layout::CollectionManifest manifest) {
  std::map<std::uint64_t, Saved> next;
  bool published = false;
  try {
    published = write(view, std::move(manifest), next);
  } catch (...) {
    // The manifest may be there even though something has failed.
    for (const auto& [number, saved] : next) former_.insert(name_of(saved.entry));
    throw;
  }
  saved_.swap(next);
  for (const auto& [number, saved] : next) former_.insert(name_of(saved.entry));
  for (const Name& name : std::exchange(former_, {})) remove_out_unless_saved(name);
  return published;
}

}  // namespace farvec::collection
