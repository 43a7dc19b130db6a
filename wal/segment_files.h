// The files of a log that is open for appending: made, given their names, cut.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "layout/log/log_segment.h"
#include "wal/log.h"
#include "wal/log_file.h"
#include "wal/segment_list.h"

namespace farvec::wal {

/// A segment that has its bytes on the disk and neither its header nor its name.
struct NewSegment {
  layout::LogSegmentHeader header;
  std::unique_ptr<LogFile> file;
};

/// Segments have multiples of it, at least kMinSegmentBytes.
inline constexpr std::uint64_t kSegmentGranule = 4096;
inline constexpr std::uint64_t kMinSegmentBytes = 2 * kSegmentGranule;

/// For what must differ between segments and between logs.
std::uint64_t random_word();

/// Shared by threads. Everything throws SystemError.
class SegmentFiles {
 public:
  /// `segments` are there already. Removes what a killed process left without a name.
  SegmentFiles(std::unique_ptr<LogFolder> folder, const std::vector<Segment>& segments);

  LogFolder& folder() { return *folder_; }

  /// Of header.segment_bytes, or, where the disk is too full for those, of fewer: a few deletes
  /// have room on a disk that has hardly any. Not of fewer than `least_bytes`.
  NewSegment allocate(layout::LogSegmentHeader header, std::uint64_t least_bytes);
  /// Makes its header and its name durable, in place of a segment of the same number: from here on
  /// it is part of the log.
  void publish(NewSegment& segment);
  /// Deletes whole segments before `position`, the oldest first, each for good before the next: a
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
