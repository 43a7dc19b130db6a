// Reads a log from a position to its end: for recovery, before the log is opened for appending, and
// beside the process that appends to it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "wal/log.h"
#include "wal/log_source.h"

namespace farvec::wal {

struct LogRecord {
  Position begin = 0;
  Position end = 0;                  ///< what append() answered
  std::span<const std::byte> bytes;  ///< until the next call of next()
};

/// What lies behind the last record.
enum class LogTail : std::uint8_t {
  final,   ///< nobody appends: what it may be is decided
  growing  ///< somebody may be writing there: nothing is, until a whole record lies there
};

/// A record that was not written whole is the end of the log, as a kill or a power cut leaves it:
/// nothing durable lies behind it. Damage that such an end cannot explain (a whole segment or a
/// record follows that was written when this one was durable, a file is shorter than it was
/// allocated, a segment is missing, a foreign or other-versioned segment, a position before begin()
/// or behind the end) throws Error with the file, the offset and what to do. docs/format.md has the
/// rule.
///
/// With LogTail::growing next() has more when more was written, also in segments that came
/// meanwhile. Whoever appends may move and remove files just then: an Error may be none for a
/// reader that is made a moment later. It throws Error when segments that were not read yet have
/// been cut away.
class LogReader {
 public:
  LogReader(const std::filesystem::path& folder, Position from, LogTail tail = LogTail::final);
  /// Of a log that lies elsewhere.
  LogReader(std::shared_ptr<LogSource> source, Position from, LogTail tail = LogTail::final);
  ~LogReader();
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  /// The next record; nothing at the end, for now where the tail grows.
  std::optional<LogRecord> next();
  /// Behind the last whole record, once next() has returned nothing.
  Position end() const;
  /// No record that was there when this was made lies behind it; later ones may lie before it.
  Position reach() const;
  /// Bytes of a torn record that lie behind the end.
  std::uint64_t torn_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace farvec::wal
