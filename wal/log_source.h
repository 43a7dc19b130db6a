// Where the readers of a log find its segments: the seam between a folder and memory elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "wal/segment_list.h"

namespace farvec::wal {

/// The bytes of one segment, with its header. Used by one thread at a time.
class SegmentBytes {
 public:
  virtual ~SegmentBytes() = default;
  virtual const std::string& path() const = 0;  ///< for messages
  virtual std::uint64_t size() = 0;             ///< now
  /// Throws Error when they cannot be read, or are not there.
  virtual void read_at(std::uint64_t offset, void* out, std::size_t bytes) = 0;
  /// Whether it is the log's still and none has come behind it, where that is much less to ask for
  /// than a list of the segments: readers at the end of a log ask hundreds of times a second.
  virtual bool is_last() { return false; }
};

/// Used by one thread at a time.
class LogSource {
 public:
  virtual ~LogSource() = default;
  virtual const std::string& name() const = 0;  ///< for messages
  /// As list_segments().
  virtual std::vector<Segment> segments() = 0;
  virtual std::unique_ptr<SegmentBytes> open(const Segment& segment) = 0;

  /// Bytes came that are damaged: from now on another copy is read. False when there is none.
  virtual bool distrust() { return false; }
  /// What lies where the next record is expected is none: another copy may know more.
  virtual void look_elsewhere() {}
};

std::shared_ptr<LogSource> folder_source(const std::filesystem::path& folder);

}  // namespace farvec::wal
