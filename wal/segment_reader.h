// The records of one segment, and where they end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "layout/log/log_frame.h"
#include "wal/log_reader.h"
#include "wal/log_source.h"
#include "wal/segment_list.h"

namespace farvec::wal {

/// Reads from the first record on. What is wrong with a record is decided as docs/format.md says:
/// the end when nothing proves that it was durable, else Error with the file and the offset.
class SegmentReader {
 public:
  /// Records end at `end` when the next segment says so; without, this is the last segment.
  SegmentReader(LogSource& source, const Segment& segment, std::optional<Position> end,
                LogTail tail);

  /// The next record; its bytes lie here until the next call. Nothing at the end, which is as far
  /// as records have been written where the tail grows.
  std::optional<LogRecord> next();

  /// As SegmentBytes::is_last().
  bool is_last() const { return file_->is_last(); }
  /// Of the last segment, when another one has come behind it.
  void end_at(Position end);

  /// Behind the last record that next() has returned.
  Position position() const { return position_; }
  /// Where the records lie that were written together with the last one.
  Position group_begin() const { return group_begin_; }
  /// Whether the log was closed here: all of its records are durable.
  bool closed() const { return closed_; }
  std::uint64_t torn_bytes() const { return torn_bytes_; }
  /// Where the tail grows: what lies behind the last record is no record and not nothing. Somebody
  /// writes it just now, or was killed, or the bytes are damaged.
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

  std::unique_ptr<SegmentBytes> file_;
  layout::LogSegmentHeader header_;
  std::uint32_t seed_;
  std::optional<Position> end_;
  const bool growing_;
  Position position_;
  Position group_begin_;
  bool done_ = false;
  bool closed_ = false;
  bool suspicious_ = false;
  int doubts_ = 0;  ///< looks at the same suspicious place
  std::uint64_t torn_bytes_ = 0;
  std::vector<std::byte> buffer_;  ///< of the file, from buffer_offset_
  std::uint64_t buffer_offset_ = 0;
};

}  // namespace farvec::wal
