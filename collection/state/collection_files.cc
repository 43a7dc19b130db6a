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
#include "layout/collection/updates_file.h"
#include "layout/index/index_removal.h"

namespace farvec::collection {
namespace {

/// Removes a file of changed rows, or what it was when its writer was killed.
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

layout::SegmentName out_name(std::uint64_t number, std::uint64_t version) {
  return {.number = number, .out_version = version};
}

layout::SegmentName updates_name(std::uint64_t number, std::uint64_t version) {
  return {.number = number, .update_version = version};
}

/// Throws Error unless the index of the segment has of its rows what the collection's are to have.
void require_store(const Segment& segment, const layout::CollectionManifest& shape,
                   const std::filesystem::path& folder) {
  const layout::SecondCopyFile* const second = segment.folder().second();
  const auto& store = shape.options.store;
  if (store.has_value() != (second != nullptr)) {
    throw Error(
        "the segment '{}' has {}, and the collection's segments have {}: it is another "
        "index",
        folder.string(), second != nullptr ? "a second copy of its rows" : "no second copy",
        store ? "one" : "none");
  }
  if (!store) return;
  const layout::Manifest& index = segment.manifest();
  const layout::SecondCopyFacts& facts = second->facts();
  const bool fits = facts.metric == shape.metric && facts.source_type == shape.source_type &&
                    facts.type == shape.stored_type && index.dimension == shape.dimension &&
                    index.stored_type == store->type &&
                    (store->type != ElementType::b1 || index.metric == store->bits_metric);
  if (fits) return;
  throw Error(
      "the segment '{}' has other vectors than the collection's segments: it is another "
      "index",
      folder.string());
}

}  // namespace

CollectionFiles::CollectionFiles(const std::filesystem::path& folder,
                                 const layout::CollectionManifest& manifest,
                                 std::shared_ptr<SegmentPublisher> publisher)
    : folder_(folder / layout::kCollectionSegmentsFolder),
      shape_(manifest),
      publisher_(std::move(publisher)) {
  for (const layout::SegmentEntry& entry : manifest.segments) saved_[entry.number].entry = entry;
}

std::filesystem::path CollectionFiles::segment_folder(std::uint64_t number) const {
  return folder_ / layout::segment_folder_name(number);
}

/// Returns the names of the files beside the segment's folder.
std::vector<CollectionFiles::Name> CollectionFiles::names_of(const layout::SegmentEntry& entry) {
  std::vector<Name> names;
  if (entry.out_version != 0) names.push_back(out_name(entry.number, entry.out_version));
  if (entry.update_version != 0) names.push_back(updates_name(entry.number, entry.update_version));
  return names;
}

/// Says whether the newest manifest names the file.
bool CollectionFiles::is_named(const Name& name) const {
  const auto known = saved_.find(name.number);
  if (known == saved_.end()) return false;
  const std::vector<Name> names = names_of(known->second.entry);
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<View::Bulk> CollectionFiles::open(const SegmentAccess& access, const View& known) {
  std::vector<View::Bulk> parts;
  for (auto& [number, saved] : saved_) {
    std::shared_ptr<Segment> segment = find_segment(known, number);
    if (segment == nullptr) {
      segment = open_segment(segment_folder(number), saved.entry, shape_.schema, access);
      require_store(*segment, shape_, segment_folder(number));
      if (publisher_ != nullptr) publisher_->want(*segment);
    }
    const layout::SegmentEntry& entry = saved.entry;
    saved.out = std::make_shared<const RowSet>(
        entry.out_version == 0
            ? RowSet()
            : layout::read_out_file(path_of(out_name(number, entry.out_version)), entry));
    if (entry.update_version != 0) {
      saved.updates = std::make_shared<const layout::UpdatedTuples>(layout::read_updates(
          path_of(updates_name(number, entry.update_version)), entry, shape_.schema));
    }
    parts.push_back({std::move(segment), saved.out, saved.updates});
  }
  return parts;
}

bool CollectionFiles::is_stray(const std::string& name) const {
  const std::optional<layout::SegmentName> what = layout::parse_segment_name(before_partial(name));
  if (!what) return false;
  if (name.ends_with(kPartial)) return true;
  const bool is_file = what->out_version || what->update_version;
  return is_file ? !is_named(*what) : !saved_.contains(what->number);
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

CollectionFiles::Saved CollectionFiles::save(const View::Bulk& bulk, std::uint64_t version) const {
  const auto known = saved_.find(bulk.segment->number());
  const Saved last = known == saved_.end() ? Saved() : known->second;
  Saved next{.entry = {.number = bulk.segment->number(),
                       .rows = bulk.segment->rows(),
                       .attributed = bulk.segment->attributes().has_tuples()},
             .out = bulk.out,
             .updates = bulk.updates};
  save_out(next, last, version);
  save_updates(next, last, version);
  return next;
}

void CollectionFiles::save_out(Saved& next, const Saved& last, std::uint64_t version) const {
  layout::SegmentEntry& entry = next.entry;
  if (next.out == last.out) {
    entry.out_version = last.entry.out_version;
    entry.out_count = last.entry.out_count;
  } else if (!next.out->empty()) {
    const auto name = [&](std::uint64_t wanted) { return out_name(entry.number, wanted); };
    entry.out_version = unused_version(version, name);
    entry.out_count = next.out->count();
    layout::write_out_file(path_of(name(entry.out_version)), entry, *next.out);
  }
}

void CollectionFiles::save_updates(Saved& next, const Saved& last, std::uint64_t version) const {
  layout::SegmentEntry& entry = next.entry;
  if (next.updates == last.updates) {
    entry.update_version = last.entry.update_version;
    entry.update_count = last.entry.update_count;
  } else if (!next.updates->empty()) {
    const auto name = [&](std::uint64_t wanted) { return updates_name(entry.number, wanted); };
    entry.update_version = unused_version(version, name);
    entry.update_count = next.updates->count();
    layout::write_updates(path_of(name(entry.update_version)), entry, *next.updates);
  }
}

/// Returns the greatest version up to `version` of whose file no manifest may know: what is written
/// under another name would not be there for that manifest after a kill. Changes that are replayed
/// from the log may change rows again at the version that is saved.
std::uint64_t CollectionFiles::unused_version(
    std::uint64_t version, const std::function<Name(std::uint64_t)>& name_of) const {
  while (version > 0 && (is_named(name_of(version)) || former_.contains(name_of(version)))) {
    --version;
  }
  if (version > 0) return version;
  throw Error(
      "every version of the changed rows of segment {} may be in use: try again after the next "
      "change",
      name_of(0).number);
}

bool CollectionFiles::write(const View& view, layout::CollectionManifest manifest,
                            std::map<std::uint64_t, Saved>& next) const {
  manifest.segments.clear();
  for (const View::Bulk& bulk : view.segments) {
    const Saved& saved = next[bulk.segment->number()] = save(bulk, view.version);
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
    const auto files = publisher_->files(bulk.segment->number());
    catalogue.segments.push_back({.index_checksum = files.contents.index,
                                  .ids_checksum = files.contents.ids,
                                  .out = *bulk.out,
                                  .attributes = {files.attributes_bytes, files.contents.attributes},
                                  .updates = *bulk.updates});
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

void CollectionFiles::note_former(const std::map<std::uint64_t, Saved>& saved) {
  for (const auto& [number, segment] : saved) {
    for (const Name& name : names_of(segment.entry)) former_.insert(name);
  }
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
    note_former(next);
    throw;
  }
  saved_.swap(next);
  note_former(next);
  for (const Name& name : std::exchange(former_, {})) {
    if (!is_named(name)) remove_with_warning(path_of(name));
  }
  return published;
}

}  // namespace farvec::collection
