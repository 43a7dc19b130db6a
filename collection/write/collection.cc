#include "collection/write/collection.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/file_names.h"
#include "base/progress.h"
#include "collection/state/replay.h"
#include "collection/write/facts.h"
#include "distance/distance.h"
#include "wal/segment_files.h"

namespace farvec::collection {
namespace {

/// Rows that get() finds between two looks at an interruption.
constexpr std::size_t kRowsBetweenLooks = 256;
/// Rows of an insert, and ids of an erase, between two looks at an interruption.
constexpr std::size_t kBatchRows = 4096;
constexpr std::size_t kBatchIds = std::size_t{1} << 16;
constexpr std::uint64_t kEveryVersion = ~std::uint64_t{0};

wal::LogOptions log_options(const std::filesystem::path& folder, const CollectionAccess& access) {
  wal::LogOptions options;
  options.folder = folder / layout::kCollectionLogFolder;
  options.durability = access.durability;
  options.interval_us = access.interval_us;
  return options;
}

CollectionAccess within(CollectionAccess access, const OpenedLog& opened) {
  access.most_log_bytes = std::min(access.most_log_bytes, opened.log->most_bytes());
  SegmentAccess& segments = access.segments;
  if (segments.nodes != nullptr) {
    segments.collection = opened.manifest.segments_on_nodes;
    segments.publisher = std::make_shared<SegmentPublisher>(segments.nodes, segments.collection);
  }
  return access;
}

/// Opens the log. Where segments lie on memory nodes, which hold those of other collections too,
/// gives the collection its number there when it is first opened with nodes.
OpenedLog open_numbered(const std::filesystem::path& folder, const CollectionAccess& access) {
  if (access.segments.nodes != nullptr && !is_utf8(folder.string())) {
    throw Error("'{}' is no UTF-8, as the names that memory nodes are told must be: rename it",
                folder.string());
  }
  OpenedLog opened = open_log(folder, access.log_nodes.get());
  if (access.segments.nodes != nullptr && opened.manifest.segments_on_nodes == 0) {
    opened.manifest.segments_on_nodes = std::max<std::uint64_t>(wal::random_word(), 1);
    ++opened.manifest.revision;
    layout::write_collection(folder, opened.manifest);
  }
  return opened;
}

/// Throws when the folder holds no collection. It is called before the folder is locked, so that
/// the message says this.
const std::filesystem::path& require_collection(const std::filesystem::path& folder) {
  (void)layout::read_collection(folder);
  return folder;
}

}  // namespace

void Collection::create(const std::filesystem::path& given, layout::CollectionManifest manifest,
                        const layout::SpellOption& spell) {
  layout::check_new_collection(manifest, spell);
  const std::filesystem::path folder = settled_path(given);
  if (std::filesystem::is_directory(folder) && !std::filesystem::is_empty(folder)) {
    throw Error("'{}' is there already and not empty: a collection begins in a new folder",
                folder.string());
  }
  const NewFolders folders(folder);
  manifest.stored_type = distance::stored_type(manifest.metric, manifest.source_type);
  try {
    std::filesystem::create_directory(folder / layout::kCollectionSegmentsFolder);
    const auto log = wal::Log::create(log_options(folder, {}));
    manifest.log_position = log->end();
    layout::write_collection(folder, std::move(manifest));
  } catch (...) {
    std::error_code ignored;  // what made it fail is what counts
    std::filesystem::remove_all(folder / layout::kCollectionSegmentsFolder, ignored);
    std::filesystem::remove_all(folder / layout::kCollectionLogFolder, ignored);
    folders.take_back();
    throw;
  }
}

Collection::Collection(const std::filesystem::path& folder, const CollectionAccess& access)
    : folder_(settled_path(folder)),
      directory_lock_(require_collection(folder_)),
      opened_(open_numbered(folder_, access)),
      access_(within(access, opened_)),
      shape_(opened_.manifest),
      files_(folder_, shape_, access_.segments.publisher),
      contents_(memtable_options(shape_)),
      next_segment_(shape_.next_segment),
      build_watch_(stop_, 0),
      import_watch_(stop_, 0),
      merge_watch_(stop_, access_.merge_bytes_per_s) {
  next_segment_ = std::max(next_segment_, files_.remove_strays());
  contents_.begin(files_.open(access_.segments), shape_.last_version);
  (void)files_.publish(*contents_.current(), shape_);
  if (access_.segments.publisher != nullptr) access_.segments.publisher->begin();
  // No other process writes the manifest: what the log lacks, it lacks for good.
  Replay log(shape_, opened_.log->source(), wal::LogTail::final, kEveryVersion);
  log.run(contents_);
  recovery_ = log.recovery();
  // Readers that find the manifest on nodes cannot know of skipped records until it says so.
  if (recovery_.skipped > 0) ++segments_changed_;
  version_ = contents_.current()->version;
  saved_position_ = shape_.log_position;
  most_unlinked_ = std::max<std::uint64_t>(fewest_unlinked(), contents_.unlinked());
  log_ = opened_.log->open(log_options(folder_, access));
  opened_at_ = log_->end();
  if (access.link) linker_.emplace([this] { return memtables(); });
  // This comes last: nothing after it may throw, since only the destructor ends the background.
  start_background();
}

Collection::~Collection() {
  // This comes first, so that what a build publishes meanwhile ends soon.
  if (access_.segments.publisher != nullptr) access_.segments.publisher->stop();
  stop_background();
  linker_.reset();
}

std::vector<std::shared_ptr<Memtable>> Collection::memtables() const {
  const Lock lock(mutex_);
  return contents_.memtables();
}

changes::RowShape Collection::row_shape() const {
  return {.type = shape_.source_type,
          .stored_type = shape_.stored_type,
          .dimension = shape_.dimension,
          .metric = shape_.metric,
          .batch_rows = kBatchRows,
          .batch_ids = kBatchIds,
          .batch_gets = std::numeric_limits<std::size_t>::max()};
}

nlohmann::ordered_json Collection::now() const {
  return state_json(*view(), state());
}

FoundRows Collection::get(std::span<const std::uint64_t> ids,
                          const changes::Patience& patience) const {
  const auto look = [&patience] {
    if (asked_to_end(patience.interrupted)) throw WorkInterrupted();
  };
  std::vector<std::optional<Contents::Place>> places;
  places.reserve(ids.size());
  ViewPointer view;
  {
    const Lock lock(mutex_);
    view = contents_.current();
    for (const std::uint64_t id : ids) {
      if (places.size() % kRowsBetweenLooks == 0) look();
      places.push_back(contents_.find(id));
    }
  }
  FoundRows result;
  result.version = view->version;
  const std::size_t row_bytes = shape_.dimension * element_bytes(shape_.stored_type);
  for (const std::optional<Contents::Place>& place : places) {
    if (result.found.size() % kRowsBetweenLooks == 0) look();
    result.found.push_back(place.has_value());
    if (!place) continue;
    result.rows.resize(result.rows.size() + row_bytes);
    const std::span<std::byte> row = std::span(result.rows).last(row_bytes);
    if (place->fresh) {
      std::memcpy(row.data(), view->memtables[place->part].memtable->row(place->row), row_bytes);
      continue;
    }
    const SegmentRows& rows = view->segments[place->part].segment->stored_rows();
    require_done(rows.read(place->row, row, patience.until));
  }
  return result;
}

WriterState Collection::state() const {
  const Status log = log_->failure();
  const auto& publisher = access_.segments.publisher;
  const std::string unpublished = publisher != nullptr ? publisher->failure() : "";
  const std::lock_guard lock(mutex_);
  return {.log_bytes = log_->disk_bytes(),
          .log_copies = log_->copies(),
          .segment_copies_missing = publisher != nullptr ? publisher->missing_copies() : 0,
          .built = built_,
          .merged = merged_,
          .written_bytes = segment_bytes_ + log_->end() - opened_at_,
          .failures = failures_,
          .merge = merge_watch_.progress(),
          .build = build_watch_.progress(),
          .import = import_watch_.progress(),
          .failure = !log.ok()                      ? log.message()
                     : background_failure().empty() ? unpublished
                                                    : background_failure()};
}

}  // namespace farvec::collection
