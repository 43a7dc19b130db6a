#include "wal/log_reader.h"

#include <utility>
#include <vector>

#include "base/error.h"
#include "wal/log_segment_list.h"
#include "wal/log_segment_reader.h"

namespace farvec::wal {

struct LogReader::State {
  std::shared_ptr<LogSource> source;
  LogTail tail = LogTail::final;
  std::vector<LogSegment> segments;
  std::size_t current = 0;
  Position reach = 0;
  std::optional<LogSegmentReader> reader;

  bool is_last() const { return current + 1 == segments.size(); }

  void enter(std::size_t segment) {
    current = segment;
    const bool last = is_last();
    reader.emplace(*source, segments[segment],
                   last ? std::nullopt : std::optional(segments[segment + 1].header.previous_end),
                   tail);
  }

  std::optional<LogRecord> next() {
    for (;;) {
      if (auto record = reader->next()) return record;
      if (!is_last()) {
        enter(current + 1);
      } else if (tail == LogTail::final || !has_grown()) {
        if (reader->suspicious()) source->look_elsewhere();
        return std::nullopt;
      }
    }
  }

  bool has_grown();
  void begin(Position from);

  void find_segment(Position from);
  void skip_to(Position from);
};

/// Whether there are segments after what was read so far. A segment without records goes away when
/// the log is opened again, and the next one has its number.
bool LogReader::State::has_grown() {
  if (reader->is_last()) return false;
  const layout::LogSegmentHeader before = segments[current].header;
  const Position read =
      reader->position() == before.first ? before.previous_end : reader->position();
  segments = source->segments();
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const layout::LogSegmentHeader& header = segments[i].header;
    if (header.number == before.number && header.salt == before.salt) {
      current = i;
      if (!is_last()) reader->end_at(segments[i + 1].header.previous_end);
      return !is_last();
    }
    if (header.previous_end == read && header.first > before.first) {
      enter(i);
      return true;
    }
  }
  throw Error("the log in '{}' was cut after position {}, up to which it was read", source->name(),
              read);
}

void LogReader::State::begin(Position from) {
  segments = source->segments();
  if (segments.empty()) {
    throw Error("'{}' holds no log: restore it from a copy", source->name());
  }
  const LogSegment& last = segments.back();
  reach = last.header.first + last.file_bytes;
  find_segment(from);
  skip_to(from);
}

/// Finds the last segment that does not begin after `from`; positions between two segments were
/// never used.
void LogReader::State::find_segment(Position from) {
  if (from < segments.front().header.previous_end) {
    throw Error(
        "the log in '{}' begins at position {} and is needed from {}: restore the missing "
        "segments from a copy",
        source->name(), segments.front().header.first, from);
  }
  std::size_t segment = 0;
  while (segment + 1 < segments.size() && segments[segment + 1].header.previous_end <= from) {
    ++segment;
  }
  enter(segment);
}

void LogReader::State::skip_to(Position from) {
  while (reader->position() < from) {
    if (reader->next()) continue;
    throw Error(
        "the log in '{}' ends at position {} and is needed from {}: restore its last "
        "segments from a copy",
        source->name(), reader->position(), from);
  }
  const Position first = segments[current].header.first;
  if (reader->position() != from && from > first) {
    throw Error(
        "no record of the log in '{}' begins at position {}: what asks for it belongs to "
        "another log",
        source->name(), from);
  }
}

LogReader::LogReader(const std::filesystem::path& folder, Position from, LogTail tail)
    : LogReader(folder_source(folder), from, tail) {}

LogReader::LogReader(std::shared_ptr<LogSource> source, Position from, LogTail tail)
    : state_(std::make_unique<State>()) {
  state_->source = std::move(source);
  state_->tail = tail;
  for (;;) {
    try {
      state_->begin(from);
      return;
    } catch (const Error&) {
      if (!state_->source->distrust()) throw;
    }
  }
}

LogReader::~LogReader() = default;

std::optional<LogRecord> LogReader::next() {
  for (;;) {
    try {
      return state_->next();
    } catch (const Error&) {
      // Continue where the last record ended, in a copy that may be whole.
      if (!state_->source->distrust()) throw;
      state_->begin(state_->reader->position());
    }
  }
}

Position LogReader::end() const {
  return state_->reader->position();
}

Position LogReader::reach() const {
  return state_->reach;
}

std::uint64_t LogReader::torn_bytes() const {
  return state_->reader->torn_bytes();
}

}  // namespace farvec::wal
