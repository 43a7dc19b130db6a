// A LogSegmentReader reads the records of one segment, and finds where they end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "layout/log/log_frame.h"
#include "wal/log_reader.h"
#include "wal/log_segment_list.h"
#include "wal/log_source.h"

namespace farvec::wal {

/// Reads from the first record on. docs/format.md says how a bad record is judged: it is the end
/// when nothing proves that it was durable, else Error is thrown with the file and the offset.
class LogSegmentReader {
 public:
  /// Records end at `end` when the next segment says so; without a value this is the last segment.
  LogSegmentReader(LogSource& source, const LogSegment& segment, std::optional<Position> end,
                   LogTail tail);

  /// Returns the next record; its bytes stay in this object until the next call. Nothing at the
  /// end, which is where writing has come to when the tail grows.
  std::optional<LogRecord> next();

  /// See LogSegmentBytes::is_last().
  bool is_last() const { return file_->is_last(); }
  /// Sets the end of what was the last segment, when another one has followed it.
  void end_at(Position end);

  /// Returns the position after the last record that next() has returned.
  Position position() const { return position_; }
  /// Returns the position of the first record that was written together with the last one.
  Position group_begin() const { return group_begin_; }
  /// Says whether the log was closed here: all of its records are durable.
  bool closed() const { return closed_; }
  std::uint64_t torn_bytes() const { return torn_bytes_; }
  /// Only where the tail grows: whether the bytes after the last record are neither a record nor
  /// zeros. They are being written at this moment, their writer was killed, or they are damaged.
  bool suspicious() const { return suspicious_; }

 private:
  std::uint64_t offset_of(Position position) const;
  std::span<const std::byte> window(std::uint64_t offset, std::size_t bytes);
  bool at_end() const { return done_ || position_ == end_; }
  void check_place(const layout::LogFrameHeader& frame) const;
  std::optional<LogRecord> accept(const layout::LogFrameHeader& frame);
  std::optional<LogRecord> stop_at(std::string_view what);
  bool holds_something();
  void look_behind();
  void look_at(std::span<const std::byte> bytes, Position position);
  [[noreturn]] void refuse_closed() const;
  [[noreturn]] void refuse(Position at, std::string_view what) const;

  std::unique_ptr<LogSegmentBytes> file_;
  layout::LogSegmentHeader header_;
  std::uint32_t seed_;
  std::optional<Position> end_;
  const bool growing_;
  Position position_;
  Position group_begin_;
  bool done_ = false;
  bool closed_ = false;
  bool suspicious_ = false;
  int doubts_ = 0;  ///< how often the same suspicious place was looked at
  std::uint64_t torn_bytes_ = 0;
  std::vector<std::byte> buffer_;  ///< bytes of the file from buffer_offset_ on
  std::uint64_t buffer_offset_ = 0;
};

}  // namespace farvec::wal
