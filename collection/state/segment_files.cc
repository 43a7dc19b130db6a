#include "collection/state/segment_files.h"

#include <spdlog/spdlog.h>
#include <xxhash.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/output_file.h"
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

SegmentFiles::SegmentFiles(const std::filesystem::path& folder,
                           const layout::CollectionManifest& manifest,
                           std::shared_ptr<SegmentPublisher> publisher)
    : folder_(folder / layout::kCollectionSegmentsFolder),
      publisher_(std::move(publisher)),
      revision_(manifest.revision) {
  for (const layout::SegmentEntry& entry : manifest.segments) saved_[entry.number].entry = entry;
}

std::filesystem::path SegmentFiles::segment_folder(std::uint64_t number) const {
  return folder_ / layout::segment_folder_name(number);
}

std::filesystem::path SegmentFiles::out_path(const layout::SegmentEntry& entry) const {
  return folder_ / layout::out_file_name(entry.number, entry.out_version);
}

std::vector<View::Bulk> SegmentFiles::open(const SegmentAccess& access, const View& known) {
  std::vector<View::Bulk> parts;
  for (auto& [number, saved] : saved_) {
    std::shared_ptr<Segment> segment = find_segment(known, number);
    if (segment == nullptr) {
      segment = std::make_shared<Segment>(segment_folder(number), saved.entry, access);
    }
    saved.segment = segment;
    saved.out = std::make_shared<const RowSet>(
        saved.entry.out_version == 0 ? RowSet()
                                     : layout::read_out_file(out_path(saved.entry), saved.entry));
    parts.push_back({std::move(segment), saved.out});
  }
  return parts;
}

bool SegmentFiles::is_stray(const std::string& name) const {
  const std::optional<layout::SegmentName> what = layout::parse_segment_name(before_partial(name));
  if (!what) return false;
  if (name.ends_with(kPartial)) return true;
  const auto known = saved_.find(what->number);
  return known == saved_.end() ||
         (what->out_version && *what->out_version != known->second.entry.out_version);
}

std::uint64_t SegmentFiles::remove_strays() const {
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

SegmentFiles::Saved SegmentFiles::save_out(const View::Bulk& bulk, std::uint64_t version) const {
  const auto known = saved_.find(bulk.segment->number());
  if (known != saved_.end() && known->second.out == bulk.out) return known->second;
  layout::SegmentEntry entry{.number = bulk.segment->number(), .rows = bulk.segment->rows()};
  if (!bulk.out->empty()) {
    entry.out_version = version;
    entry.out_count = bulk.out->count();
    layout::write_out_file(out_path(entry), entry, *bulk.out);
  }
  return {entry, bulk.segment, bulk.out};
}

SegmentFiles::Name SegmentFiles::name_of(const layout::SegmentEntry& entry) {
  return {entry.number, entry.out_version};
}

bool SegmentFiles::write(const View& view, layout::CollectionManifest manifest,
                         std::map<std::uint64_t, Saved>& next) const {
  manifest.segments.clear();
  for (const View::Bulk& bulk : view.segments) {
    const Saved& saved = next[bulk.segment->number()] = save_out(bulk, view.version);
    manifest.segments.push_back(saved.entry);
  }
  // The manifest may be there even if something fails from here on.
  for (const View::Bulk& bulk : view.segments) bulk.segment->keep();
  layout::write_collection(folder_.parent_path(), manifest);
  return publish(view, manifest);
}

bool SegmentFiles::publish(const View& view, const layout::CollectionManifest& manifest) const {
  if (publisher_ == nullptr) return true;
  const std::filesystem::path folder = folder_.parent_path();
  layout::Catalogue catalogue{manifest, {}};
  for (const View::Bulk& bulk : view.segments) {
    const auto& contents = bulk.segment->contents();
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

void SegmentFiles::remove_unless_saved(const Name& name,
                                       const std::weak_ptr<Segment>& former) const {
  const auto [number, out_version] = name;
  const auto kept = saved_.find(number);
  if (kept != saved_.end() && name_of(kept->second.entry) == name) return;
  if (out_version != 0) {
    remove_with_warning(folder_ / layout::out_file_name(number, out_version));
  }
  if (kept != saved_.end()) return;
  if (const auto segment = former.lock()) {
    segment->drop();
  } else {
    end(number);
  }
}

/// Does what ~Segment() does for a segment that was dropped, for one that has had no holder since
/// before.
void SegmentFiles::end(std::uint64_t number) const {
  if (publisher_ != nullptr) publisher_->forget(number);
  remove_with_warning(segment_folder(number));
}

bool SegmentFiles::save(const View& view, layout::CollectionManifest manifest) {
  std::map<std::uint64_t, Saved> next;
  manifest.revision = ++revision_;
  bool published = false;
  try {
    published = write(view, std::move(manifest), next);
  } catch (...) {
    for (const auto& [number, saved] : next) former_[name_of(saved.entry)] = saved.segment;
    throw;
  }
  saved_.swap(next);
  for (const auto& [number, saved] : next) former_[name_of(saved.entry)] = saved.segment;
  for (const auto& [name, segment] : std::exchange(former_, {})) remove_unless_saved(name, segment);
  return published;
}

}  // namespace farvec::collection
