// This file makes and opens logs: what a former process left is made durable, then a new segment
// begins.
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/file_names.h"
#include "wal/log_segment_reader.h"
#include "wal/segment_log.h"

namespace farvec::wal {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kMinPendingBytes = kSegmentGranule;
constexpr double kMaxIntervalUs = 60e6;

void check_options(const LogOptions& options) {
  if (options.segment_bytes < kMinSegmentBytes ||
      options.segment_bytes > layout::kMaxLogSegmentBytes ||
      options.segment_bytes % kSegmentGranule != 0) {
    throw Error("a log segment has {} to {} bytes, a multiple of {}, not {}", kMinSegmentBytes,
                layout::kMaxLogSegmentBytes, kSegmentGranule, options.segment_bytes);
  }
  if (options.pending_bytes < kMinPendingBytes ||
      options.pending_bytes > layout::kMaxLogSegmentBytes) {
    throw Error("{} to {} bytes of a log may wait, not {}", kMinPendingBytes,
                layout::kMaxLogSegmentBytes, options.pending_bytes);
  }
  if (options.durability == Durability::interval &&
      !(options.interval_us > 0 && options.interval_us <= kMaxIntervalUs)) {
    throw Error("a log is made durable every {} us at most, not {}", kMaxIntervalUs,
                options.interval_us);
  }
}

std::uint64_t reach_of(const LogOptions& options) {
  return std::max(options.pending_bytes, options.segment_bytes);
}

std::unique_ptr<Log> begin_log(const LogOptions& options,
                               std::unique_ptr<layout::DirectoryLock> lock,
                               std::unique_ptr<LogSegmentFiles> files,
                               layout::LogSegmentHeader header, std::uint64_t least_bytes) {
  header.salt = random_word();
  header.segment_bytes = options.segment_bytes;
  header.reach = reach_of(options);
  header.epoch = files->folder().epoch();
  NewLogSegment segment = files->allocate(header, least_bytes);
  files->publish(segment);
  return std::make_unique<SegmentLog>(options, std::move(lock), std::move(files),
                                      std::move(segment));
}

/// The place where the last segment's records end.
struct Tail {
  Position begin = 0;  ///< where records begin that nothing proves to be durable
  Position end = 0;
};

Tail find_tail(LogSource& source, const LogSegment& last) {
  LogSegmentReader reader(source, last, std::nullopt, LogTail::final);
  while (reader.next()) {
  }
  return {reader.closed() ? reader.position() : reader.group_begin(), reader.position()};
}

/// The bytes that were read may be in the page cache only, even marked clean by a sync that failed.
/// When they are written once more, they are on the disk or there is an error.
void make_certain(LogFile& file, LogSegmentBytes& read, const LogSegment& segment,
                  const Tail& tail) {
  if (tail.begin == tail.end) return;
  const std::uint64_t offset = layout::kLogHeaderBytes + (tail.begin - segment.header.first);
  std::vector<std::byte> bytes(tail.end - tail.begin);
  read.read_at(offset, bytes.data(), bytes.size());
  file.write_at(offset, bytes);
  file.sync();
}

}  // namespace

std::unique_ptr<Log> create_log(const LogOptions& options, std::unique_ptr<LogFolder> folder,
                                std::uint64_t log_id) {
  check_options(options);
  auto lock = folder->lock();
  if (!folder->source()->segments().empty()) {
    throw Error("'{}' holds a log already: open it, or choose another folder",
                folder->path().string());
  }
  auto files = std::make_unique<LogSegmentFiles>(std::move(folder), std::vector<LogSegment>());
  return begin_log(options, std::move(lock), std::move(files),
                   {.log_id = log_id == 0 ? random_word() : log_id}, options.segment_bytes);
}

std::unique_ptr<Log> open_log(const LogOptions& options, std::unique_ptr<LogFolder> folder) {
  check_options(options);
  auto lock = folder->lock();
  const std::shared_ptr<LogSource> source = folder->source();
  std::vector<LogSegment> segments = source->segments();
  if (segments.empty()) {
    throw Error("'{}' holds no log: restore it from a copy", folder->path().string());
  }
  LogSegment& last = segments.back();
  const Tail tail = find_tail(*source, last);
  const std::unique_ptr<LogFile> file = folder->open(log_segment_name(last.header.number));
  make_certain(*file, *source->open(last), last, tail);

  layout::LogSegmentHeader header = last.header;
  const bool replaces = tail.end == last.header.first;  // the last segment has no records
  header.first = tail.end + header.reach;
  if (!replaces) {
    header.number += 1;
    header.previous_end = tail.end;
    last.file_bytes = layout::kLogHeaderBytes + (tail.end - last.header.first);
  }
  auto files = std::make_unique<LogSegmentFiles>(std::move(folder), segments);
  auto log = begin_log(options, std::move(lock), std::move(files), header, kMinSegmentBytes);
  // Bytes after the records, torn ones included, are freed.
  if (!replaces) file->truncate(last.file_bytes);
  return log;
}

std::unique_ptr<Log> Log::create(const LogOptions& options) {
  const fs::path folder = settled_path(options.folder);
  fs::create_directories(folder);
  sync_directory(parent_of(folder));
  return create_log(options, disk_folder(folder));
}

std::unique_ptr<Log> Log::open(const LogOptions& options) {
  return open_log(options, disk_folder(settled_path(options.folder)));
}

}  // namespace farvec::wal
