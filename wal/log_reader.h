// A LogReader reads a log from a position to its end: for recovery, before the log is opened for
// appending, and beside the process that appends to it.
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
  Position end = 0;                  ///< the position that append() returned
  std::span<const std::byte> bytes;  ///< valid until the next call of next()
};

/// Says what may come after the last record.
enum class LogTail : std::uint8_t {
  final,   ///< no process appends: the end of the log is decided
  growing  ///< a process may be writing there: nothing counts until a whole record is there
};

/// A record that was not written whole is the end of the log, which a kill or a power cut leaves:
/// nothing durable comes after it. Damage that such an end cannot explain throws Error with the
/// file, the offset and what to do. Examples are a whole segment or a record that follows and was
/// written when this one was durable, a file that is shorter than it was allocated, a missing
/// segment, a foreign or other-versioned segment, and a position before begin() or after the end.
/// docs/format.md has the rule.
///
/// With LogTail::growing, next() returns more when more was written, also in segments that came
/// meanwhile. The process that appends may be moving and removing files at that moment: an Error
/// may not occur for a reader that is made a moment later. Throws Error when segments that were not
/// read yet have been cut away.
class LogReader {
 public:
  LogReader(const std::filesystem::path& folder, Position from, LogTail tail = LogTail::final);
  /// Reads a log that is elsewhere.
  LogReader(std::shared_ptr<LogSource> source, Position from, LogTail tail = LogTail::final);
  ~LogReader();
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  /// Returns the next record; nothing at the end, which may be temporary where the tail grows.
  std::optional<LogRecord> next();
  /// Returns the position after the last whole record, valid when next() has returned nothing.
  Position end() const;
  /// No record that existed when the reader was made is after it; later ones may be before it.
  Position reach() const;
  /// Returns the bytes of a torn record after the end.
  std::uint64_t torn_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace farvec::wal
