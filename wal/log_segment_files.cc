#include "wal/log_segment_files.h"

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/full_disk.h"

namespace farvec::wal {
namespace {

/// On a disk that is nearly full, segments become this many times smaller at each attempt.
constexpr std::uint64_t kShrink = 4;

std::string partial_name(std::uint64_t number) {
  return log_segment_name(number) + kPartialSuffix;
}

}  // namespace

std::uint64_t random_word() {
  std::random_device random;
  return (std::uint64_t{random()} << 32) | random();
}

LogSegmentFiles::LogSegmentFiles(std::unique_ptr<LogFolder> folder,
                                 const std::vector<LogSegment>& segments)
    : folder_(std::move(folder)) {
  for (const LogSegment& segment : segments) {
    const layout::LogSegmentHeader& header = segment.header;
    segments_.push_back({header.number, segment.file_bytes, header.first, header.previous_end});
  }
  folder_->remove_unnamed();
}

NewLogSegment LogSegmentFiles::allocate(layout::LogSegmentHeader header,
                                        std::uint64_t least_bytes) {
  const std::string name = partial_name(header.number);
  std::optional<SystemError> first;
  for (;;) {
    try {
      return {header, folder_->create(name, header.segment_bytes)};
    } catch (const SystemError& error) {
      // Only the first error matters, not that of a smaller segment.
      if (!first) first = error;
      if (!is_full_disk(error.code) || header.segment_bytes <= least_bytes) throw *first;
    }
    const std::uint64_t fewer = header.segment_bytes / kShrink / kSegmentGranule * kSegmentGranule;
    header.segment_bytes = std::max(fewer, least_bytes);
  }
}

void LogSegmentFiles::publish(NewLogSegment& segment) {
  const layout::LogSegmentHeader& header = segment.header;
  segment.file->write_at(0, layout::encode_log_header(header));
  segment.file->sync();
  folder_->rename(partial_name(header.number), log_segment_name(header.number));
  folder_->sync();
  const std::lock_guard lock(mutex_);
  if (!segments_.empty() && segments_.back().number == header.number) segments_.pop_back();
  segments_.push_back({header.number, header.segment_bytes, header.first, header.previous_end});
}

bool LogSegmentFiles::may_go(Position position, std::uint64_t& number) const {
  const std::lock_guard lock(mutex_);
  if (segments_.size() < 2 || segments_[1].previous_end > position) return false;
  number = segments_.front().number;
  return true;
}

void LogSegmentFiles::cut(Position position) {
  const std::lock_guard one_at_a_time(cutting_);
  std::uint64_t number = 0;
  while (may_go(position, number)) {
    folder_->remove(log_segment_name(number));
    folder_->sync();
    const std::lock_guard lock(mutex_);
    segments_.pop_front();
  }
}

std::uint64_t LogSegmentFiles::disk_bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t bytes = 0;
  for (const Known& segment : segments_) bytes += segment.file_bytes;
  return bytes;
}

Position LogSegmentFiles::begin() const {
  const std::lock_guard lock(mutex_);
  return segments_.front().first;
}

}  // namespace farvec::wal
