// LogSegmentFiles makes, names and deletes the files of a log that is open for appending.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "layout/log/log_segment.h"
#include "wal/log.h"
#include "wal/log_file.h"
#include "wal/log_segment_list.h"

namespace farvec::wal {

/// A NewLogSegment is a segment whose bytes are on the disk, but neither its header nor its name.
struct NewLogSegment {
  layout::LogSegmentHeader header;
  std::unique_ptr<LogFile> file;
};

/// The size of a segment is a multiple of it, and at least kMinSegmentBytes.
inline constexpr std::uint64_t kSegmentGranule = 4096;
inline constexpr std::uint64_t kMinSegmentBytes = 2 * kSegmentGranule;

/// Returns a random number for what must differ between segments and between logs.
std::uint64_t random_word();

/// Threads share it. Every member throws SystemError.
class LogSegmentFiles {
 public:
  /// `segments` exist already. Removes unnamed files that a killed process left.
  LogSegmentFiles(std::unique_ptr<LogFolder> folder, const std::vector<LogSegment>& segments);

  LogFolder& folder() { return *folder_; }

  /// Allocates a segment of header.segment_bytes or, where the disk is too full for that, of fewer:
  /// then a few deletes have room on a disk that is nearly full. Never fewer than `least_bytes`.
  NewLogSegment allocate(layout::LogSegmentHeader header, std::uint64_t least_bytes);
  /// Makes the segment's header and name durable; a segment of the same number is replaced. From
  /// here on it is part of the log.
  void publish(NewLogSegment& segment);
  /// Deletes whole segments before `position`, the oldest first, each durably before the next: a
  /// loss of power leaves no gap.
  void cut(Position position);

  std::uint64_t disk_bytes() const;
  Position begin() const;

 private:
  struct Known {
    std::uint64_t number, file_bytes;
    Position first, previous_end;
  };

  bool may_go(Position position, std::uint64_t& number) const;

  const std::unique_ptr<LogFolder> folder_;
  std::mutex cutting_;  ///< taken before mutex_
  mutable std::mutex mutex_;
  std::deque<Known> segments_;
};

}  // namespace farvec::wal
