#include "collection/collection.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/file_names.h"
#include "base/finite.h"
#include "base/progress.h"
#include "base/status_error.h"
#include "collection/replay.h"
#include "collection/unlocked.h"
#include "distance/distance.h"
#include "indexing/source.h"
#include "layout/collection/change_record.h"
#include "wal/segment_files.h"

namespace farvec::collection {
namespace {

/// Who waits looks at its deadline so often.
constexpr auto kLook = std::chrono::milliseconds(20);
/// Who links rows to insert others does so many, some 0.1 ms each, before it looks again.
constexpr int kHelpedRows = 16;
/// Others are at the rows that are left, and soon done.
constexpr auto kHelpPause = std::chrono::microseconds(100);
/// Rows that are not linked may take as long as a search of a graph with such a list.
constexpr std::uint32_t kUnlinkedList = 16;
/// Rows that get() finds between two looks at whether anybody waits for them.
constexpr std::size_t kRowsBetweenLooks = 256;
/// A refusal comes so much later, at most, where the disk is slow.
constexpr double kRefusalUs = 5e6;

constexpr std::uint64_t kEveryVersion = ~std::uint64_t{0};

std::uint32_t fewest_unlinked(const CollectionAccess& access,
                              const layout::CollectionManifest& shape) {
  if (access.most_unlinked > 0) return access.most_unlinked;
  return kUnlinkedList * measured_place_rows(shape.dimension * element_bytes(shape.stored_type));
}

wal::LogOptions log_options(const std::filesystem::path& folder, const CollectionAccess& access) {
  wal::LogOptions options;
  options.folder = folder / layout::kCollectionLogFolder;
  options.durability = access.durability;
  options.interval_us = access.interval_us;
  return options;
}

/// Ascending, each once.
std::vector<std::uint64_t> different_ids(std::span<const std::uint64_t> ids) {
  std::vector<std::uint64_t> different(ids.begin(), ids.end());
  std::sort(different.begin(), different.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  return different;
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

constexpr Status kNoRoom{StatusCode::resource_exhausted,
                         "rows come faster than segments are built: try again later"};
constexpr Status kIdComesTwice{StatusCode::invalid_argument, "an id comes twice in one batch"};
constexpr Status kNotLinked{StatusCode::resource_exhausted,
                            "rows come faster than they are linked: try again later"};

/// Where segments lie on memory nodes, which hold those of others too, the collection has a number
/// there from its first opening with nodes on.
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

/// Before it is locked: where there is none, that is what is wrong.
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
  // Nobody else writes the manifest: what the log lacks, it lacks for good.
  Replay log(shape_, opened_.log->source(), wal::LogTail::final, kEveryVersion);
  log.run(contents_);
  recovery_ = log.recovery();
  // Readers that find the manifest on nodes cannot know that until it says so.
  if (recovery_.skipped > 0) ++segments_changed_;
  version_ = contents_.current()->version;
  saved_position_ = shape_.log_position;
  most_unlinked_ = std::max<std::uint64_t>(fewest_unlinked(access_, shape_), contents_.unlinked());
  log_ = opened_.log->open(log_options(folder_, access));
  opened_at_ = log_->end();
  if (access.link) linker_.emplace([this] { return memtables(); });
  // Last: nothing behind it may throw, as only the destructor ends it.
  start_background();
}

Collection::~Collection() {
  // First: what a build publishes meanwhile ends soon.
  if (access_.segments.publisher != nullptr) access_.segments.publisher->stop();
  stop_background();
  linker_.reset();
}

std::vector<std::shared_ptr<Memtable>> Collection::memtables() const {
  const Lock lock(mutex_);
  return contents_.memtables();
}

std::size_t Collection::batch_rows() const {
  return std::min<std::size_t>(
      layout::changes_per_record(shape_.dimension * element_bytes(shape_.stored_type)),
      shape_.options.memtable_rows);
}

void Collection::check(const VectorView& rows, std::span<const std::uint64_t> ids) const {
  if (rows.type != shape_.source_type || rows.dimension != shape_.dimension) {
    throw Error("rows of {} x {} do not fit a collection of {} x {}", rows.dimension,
                to_string(rows.type), shape_.dimension, to_string(shape_.source_type));
  }
  if (rows.count != ids.size()) {
    throw Error("{} rows and {} ids: every row has one", rows.count, ids.size());
  }
  std::unordered_set<std::uint64_t> seen;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const RowFault fault = fault_of_row(rows.row(i), rows.type, rows.dimension, shape_.metric);
    if (fault != RowFault::none) {
      throw StatusError(StatusCode::invalid_argument, "row {} (id {}) {}", i, ids[i],
                        to_string(fault));
    }
    if (!seen.insert(ids[i]).second) throw Error("id {} comes twice in one batch", ids[i]);
  }
}

bool Collection::has_room(std::size_t rows) const {
  return contents_.room() >= rows || contents_.frozen() < access_.most_frozen;
}

bool Collection::is_crowded(std::size_t rows) const {
  const std::uint64_t unlinked = access_.link ? contents_.unlinked() : 0;
  return unlinked > 0 && unlinked + rows > most_unlinked_;
}

void Collection::help_linking(Lock& lock) {
  const std::vector<std::shared_ptr<Memtable>> memtables = contents_.memtables();
  int linked = 0;
  {
    const Unlocked unlocked(lock);
    LinkScratch scratch;
    for (const auto& memtable : memtables) {
      while (linked < kHelpedRows && memtable->link_next(scratch)) ++linked;
    }
  }
  if (linked == 0) progress_.wait_for(lock, kHelpPause);
}

Status Collection::wait_while(Lock& lock, Ticks deadline, const std::function<bool()>& busy) {
  while (busy()) {
    if (now_ticks() >= deadline || stop_.load(std::memory_order_relaxed)) return kNoRoom;
    progress_.wait_for(lock, kLook);
  }
  return {};
}

/// The newest memtable takes so many rows, and few enough are not linked, when it returns ok. Those
/// who wait for their turn link too.
Status Collection::make_room(Lock& lock, const Turn& turn, std::size_t rows, Ticks deadline) {
  for (;;) {
    const bool busy = importing_ || !turn.has_come() || !has_room(rows);
    const bool crowded = is_crowded(rows);
    if (!busy && !crowded) break;
    if (now_ticks() >= deadline || stop_.load(std::memory_order_relaxed)) {
      return busy ? kNoRoom : kNotLinked;
    }
    if (crowded) {
      help_linking(lock);
    } else {
      progress_.wait_for(lock, kLook);
    }
  }
  const std::uint64_t unlinked = contents_.unlinked() + rows;
  most_unlinked_ =
      std::max<std::uint64_t>(fewest_unlinked(access_, shape_), std::min(most_unlinked_, unlinked));
  // An empty one may be older than erases, or an import, that must not be replayed.
  if (contents_.room() < rows || !contents_.holds_rows()) {
    contents_.rotate(log_->end());
    work_.notify_all();
  }
  return {};
}

/// Does not wait for the disk: deadline_exceeded.
Result<wal::Position> Collection::append(const layout::RowChangeRecord& record) {
  Result<wal::Position> end = log_->append(record.parts(), 0);
  if (!end.ok()) return said_of_log(end.status());
  if (log_is_long()) work_.notify_all();
  return end;
}

/// Waits for the disk without the lock, which others need; what may be done is asked for again
/// behind it.
Result<wal::Position> Collection::log_change(Lock& lock, Ticks deadline,
                                             const std::function<Status()>& may_be_done,
                                             const std::function<Result<wal::Position>()>& log) {
  for (;;) {
    if (Status status = may_be_done(); !status.ok()) return status;
    Result<wal::Position> end = log();
    if (end.ok() || end.status().code() != StatusCode::deadline_exceeded) return end;
    const Status room = [&] {
      const Unlocked unlocked(lock);
      return log_->wait_for_room(layout::kMostChangeBytes, deadline);
    }();
    if (!room.ok()) return said_of_log(room);
  }
}

/// A full disk that has ended the log is no reason to try again: the log takes nothing until it is
/// opened anew, and what it did not write may be in the view.
Status Collection::said_of_log(const Status& status) const {
  if (status.code() != StatusCode::resource_exhausted) return status;
  const Status ended = log_->failure();
  return ended.ok() ? status : Status(StatusCode::unavailable, ended.message());
}

/// Until what was appended is as durable as it is to be.
Status Collection::wait_for_log(wal::Position end, Ticks deadline) const {
  return end == 0 ? Status() : said_of_log(log_->wait(end, deadline));
}

/// Of a call whose earlier parts are done, and told as done: they are to be as durable as those of
/// a call that is not refused. Where that is not known in time, it is what is said.
Status Collection::refused(const Status& status, wal::Position end) const {
  const Status durable = wait_for_log(end, now_ticks() + us_to_ticks(kRefusalUs));
  return durable.ok() ? status : durable;
}

Status Collection::insert(const VectorView& rows, std::span<const std::uint64_t> ids,
                          Ticks deadline, Receipt& receipt) {
  wal::Position end = 0;
  Status status;
  try {
    while (status.ok() && receipt.done < rows.count) {
      const std::size_t count = std::min(rows.count - receipt.done, batch_rows());
      const Result<wal::Position> inserted = insert_part(
          rows.part(receipt.done, count), ids.subspan(receipt.done, count), deadline, receipt);
      status = inserted.status();
      if (status.ok()) end = inserted.value();
    }
  } catch (...) {
    (void)refused({}, end);
    throw;
  }
  return status.ok() ? wait_for_log(end, deadline) : refused(status, end);
}

/// Of one record of the log, and nothing of it where it is refused.
Result<wal::Position> Collection::insert_part(const VectorView& part,
                                              std::span<const std::uint64_t> ids, Ticks deadline,
                                              Receipt& receipt) {
  // Whoever calls may change rows and ids meanwhile: what is checked is what is kept.
  const dataset::VectorSet stored = indexing::stored_copy(part, shape_.metric, 1);
  const std::vector<std::uint64_t> part_ids(ids.begin(), ids.end());
  if (different_ids(part_ids).size() != part_ids.size()) return kIdComesTwice;
  Lock lock(mutex_);
  const Turn turn(turns_);
  const Result<wal::Position> appended = log_change(
      lock, deadline, [&] { return make_room(lock, turn, part.count, deadline); },
      [&] {
        return append(layout::RowChangeRecord::insert(version_ + 1, part_ids, stored.view()));
      });
  if (!appended.ok()) return appended;
  version_ += part.count;
  receipt.version = version_;
  receipt.replaced += contents_.insert(stored.view(), part_ids, version_);
  receipt.done += part.count;
  // More of a segment are out.
  if (receipt.replaced > 0) work_.notify_all();
  if (linker_) linker_->wake();
  return appended;
}

std::string Collection::reason(const Status& status) const {
  const std::string_view said = status.message();
  if (said != kNoRoom.message()) return std::string(said);
  const Lock lock(mutex_);
  // Where nothing fails they are built, and too slowly.
  if (builder_.failure.empty()) return std::string(said);
  return fmt::format(
      "there is no room for more rows until a segment is built, which fails and is tried again: {}",
      builder_.failure);
}

Status Collection::erase(std::span<const std::uint64_t> ids, Ticks deadline, Receipt& receipt) {
  const std::vector<std::uint64_t> different = different_ids(ids);
  receipt.missing += ids.size() - different.size();
  wal::Position end = 0;
  Status status;
  for (std::size_t next = 0; next < different.size();) {
    const auto part = std::span(different).subspan(
        next, std::min<std::size_t>(different.size() - next, layout::changes_per_record(0)));
    Lock lock(mutex_);
    const Result<wal::Position> appended = log_change(
        lock, deadline, [&] { return wait_while(lock, deadline, [this] { return importing_; }); },
        [&] { return append(layout::RowChangeRecord::erase(version_ + 1, part)); });
    if (!appended.ok()) {
      status = appended.status();
      break;
    }
    end = appended.value();
    version_ += part.size();
    receipt.version = version_;
    const std::uint64_t found = contents_.erase(part, version_);
    receipt.done += found;
    receipt.missing += part.size() - found;
    next += part.size();
    work_.notify_all();
  }
  return status.ok() ? wait_for_log(end, deadline) : refused(status, end);
}

Result<FoundRows> Collection::get(std::span<const std::uint64_t> ids, Ticks deadline,
                                  const GiveUp& give_up) const {
  const auto look = [&give_up] {
    if (give_up && give_up()) throw WorkInterrupted();
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
    if (Status status = rows.read(place->row, row, deadline); !status.ok()) return status;
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
