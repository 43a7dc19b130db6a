#include "wal/log_segment_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "layout/crc32c.h"

namespace farvec::wal {
namespace {

using layout::LogFrameHeader;

constexpr std::size_t kReadBytes = std::size_t{1} << 20;
/// Bytes of a read at the end, which is looked at repeatedly.
constexpr std::size_t kTailBytes = std::size_t{64} << 10;
/// Bytes of a read for a header that may be there by now.
constexpr std::size_t kLookBytes = 256;
/// After this many looks the writer of a record has finished. If it is still bad it may be damaged,
/// which what follows may prove.
constexpr int kDoubts = 16;

/// A segment keeps the bytes that were allocated for it until the next one exists; then only the
/// bytes of its records are needed.
void check_length(const LogSegment& segment, std::optional<Position> end) {
  const std::uint64_t needed =
      end ? layout::kLogHeaderBytes + (*end - segment.header.first) : segment.header.segment_bytes;
  if (segment.file_bytes >= needed) return;
  throw Error("'{}' was cut short at offset {}: it had at least {} bytes; restore it from a copy",
              segment.path, segment.file_bytes, needed);
}

}  // namespace

LogSegmentReader::LogSegmentReader(LogSource& source, const LogSegment& segment,
                                   std::optional<Position> end, LogTail tail)
    : file_(source.open(segment)),
      header_(segment.header),
      seed_(layout::log_frame_seed(segment.header.salt)),
      end_(end),
      growing_(tail == LogTail::growing),
      position_(segment.header.first),
      group_begin_(segment.header.first) {
  check_length(segment, end);
}

std::uint64_t LogSegmentReader::offset_of(Position position) const {
  return layout::kLogHeaderBytes + (position - header_.first);
}

/// Returns fewer bytes than asked for where the file ends.
std::span<const std::byte> LogSegmentReader::window(std::uint64_t offset, std::size_t bytes) {
  const std::uint64_t there = file_->size();
  const std::uint64_t left = offset < there ? there - offset : 0;
  bytes = std::min<std::uint64_t>(bytes, left);
  if (offset < buffer_offset_ || offset + bytes > buffer_offset_ + buffer_.size()) {
    std::size_t ahead = growing_ && !end_ ? kTailBytes : kReadBytes;
    if (ahead == kTailBytes && bytes <= sizeof(LogFrameHeader)) ahead = kLookBytes;
    buffer_.resize(std::min<std::uint64_t>(std::max(bytes, ahead), left));
    buffer_offset_ = offset;
    file_->read_at(offset, buffer_.data(), buffer_.size());
  }
  return std::span<const std::byte>(buffer_).subspan(offset - buffer_offset_, bytes);
}

void LogSegmentReader::refuse(Position at, std::string_view what) const {
  throw Error("'{}' at offset {} (position {}): {}; restore the file from a copy", file_->path(),
              offset_of(at), at, what);
}

void LogSegmentReader::refuse_closed() const {
  refuse(position_, "the log was closed here, and the next segment says it went on");
}

std::optional<LogRecord> LogSegmentReader::next() {
  if (at_end()) return std::nullopt;
  const auto frame = layout::decode_log_frame(window(offset_of(position_), sizeof(LogFrameHeader)),
                                              position_, seed_);
  if (!frame) return stop_at("there is no sound record");
  check_place(*frame);
  if (frame->length != layout::kLogClosed) return accept(*frame);
  done_ = closed_ = true;
  if (end_) refuse_closed();
  return std::nullopt;
}

/// Refuses a header whose checksum proves that a log wrote it, but which no log writes.
void LogSegmentReader::check_place(const LogFrameHeader& frame) const {
  const Position group = frame.group_begin();
  if (group != position_ && group != group_begin_) {
    refuse(position_, "the record names a group that it is not in");
  }
  if (frame.length == layout::kLogClosed) return;
  const Position end = position_ + layout::log_frame_bytes(frame.length);
  if (end > end_.value_or(header_.first + header_.segment_bytes - layout::kLogHeaderBytes)) {
    refuse(position_, "the record goes on after the end of its segment");
  }
}

std::optional<LogRecord> LogSegmentReader::accept(const LogFrameHeader& frame) {
  const std::uint64_t frame_bytes = layout::log_frame_bytes(frame.length);
  const auto bytes = window(offset_of(position_), frame_bytes);
  if (bytes.size() < frame_bytes) return stop_at("the file ends within a record");
  const auto record = bytes.subspan(sizeof(LogFrameHeader), frame.length);
  if (layout::crc32c(record) != frame.bytes_crc) {
    return stop_at("the record's checksum does not match");
  }
  suspicious_ = false;
  doubts_ = 0;
  group_begin_ = frame.group_begin();
  const Position begin = position_;
  position_ += frame_bytes;
  return LogRecord{begin, position_, record};
}

void LogSegmentReader::end_at(Position end) {
  end_ = end;
  buffer_.clear();
  if (closed_ && end != position_) refuse_closed();
}

/// Handles a place without a whole record: the end of the log, or damage.
std::optional<LogRecord> LogSegmentReader::stop_at(std::string_view what) {
  if (end_) {
    refuse(position_, fmt::format("{}, and the next segment says that records go on to position "
                                  "{} and were durable",
                                  what, *end_));
  }
  if (growing_) {
    suspicious_ = holds_something();
    if (suspicious_ && ++doubts_ == kDoubts) look_behind();
    buffer_.clear();  // the bytes here are read again the next time
    return std::nullopt;
  }
  done_ = true;
  look_behind();
  return std::nullopt;
}

/// Whether there are bytes other than zero where the next header is expected.
bool LogSegmentReader::holds_something() {
  const auto bytes = window(offset_of(position_), sizeof(LogFrameHeader));
  return std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; });
}

/// Looks for a header after the broken record. A group is written when everything before it is
/// durable: a header of a group that begins after the broken record proves that no torn write has
/// broken it.
void LogSegmentReader::look_behind() {
  Position at = position_;
  for (;;) {
    const auto bytes = window(offset_of(at), kReadBytes);
    if (bytes.empty()) return;
    look_at(bytes, at);
    if (bytes.size() < kReadBytes) return;
    at += kReadBytes - sizeof(LogFrameHeader);  // a header may cross the border
  }
}

void LogSegmentReader::look_at(std::span<const std::byte> bytes, Position position) {
  for (std::size_t i = 0; i < bytes.size(); i += layout::kLogFrameAlignment) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min(sizeof(word), bytes.size() - i));
    const Position at = position + i;
    if (word != 0) torn_bytes_ = at + std::min(sizeof(word), bytes.size() - i) - position_;
    // Also where the word is zero, because the header of an empty record that leads its group
    // begins like that.
    const auto frame = layout::decode_log_frame(bytes.subspan(i), at, seed_);
    if (frame && frame->group_begin() > position_) {
      refuse(position_, fmt::format("there is no sound record, and the one at offset {} was "
                                    "written when it had been made durable",
                                    offset_of(at)));
    }
  }
}

}  // namespace farvec::wal
