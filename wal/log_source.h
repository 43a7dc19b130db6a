// A LogSource is where the readers of a log find its segments: a folder or memory elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "wal/log_segment_list.h"

namespace farvec::wal {

/// LogSegmentBytes are the bytes of one segment, with its header. One thread at a time uses it.
class LogSegmentBytes {
 public:
  virtual ~LogSegmentBytes() = default;
  virtual const std::string& path() const = 0;  ///< path for messages
  virtual std::uint64_t size() = 0;             ///< the present size
  /// Throws Error when the bytes cannot be read, or do not exist.
  virtual void read_at(std::uint64_t offset, void* out, std::size_t bytes) = 0;
  /// Says whether the segment still belongs to the log and none has followed it, where asking for
  /// that costs much less than a list of the segments: readers at the end of a log ask hundreds of
  /// times a second.
  virtual bool is_last() { return false; }
};

/// One thread at a time uses it.
class LogSource {
 public:
  virtual ~LogSource() = default;
  virtual const std::string& name() const = 0;  ///< name for messages
  /// Lists the segments like list_log_segments().
  virtual std::vector<LogSegment> segments() = 0;
  virtual std::unique_ptr<LogSegmentBytes> open(const LogSegment& segment) = 0;

  /// Says that damaged bytes came: from now on another copy is read. False when there is none.
  virtual bool distrust() { return false; }
  /// Says that no record is where the next one is expected: another copy may have it.
  virtual void look_elsewhere() {}
};

std::shared_ptr<LogSource> folder_source(const std::filesystem::path& folder);

}  // namespace farvec::wal
