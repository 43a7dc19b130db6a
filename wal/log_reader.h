// Reads a log from a position to its end: for recovery, before the log is opened for appending.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "wal/log.h"

namespace farvec::wal {

struct LogRecord {
  Position begin = 0;
  Position end = 0;                  ///< what append() answered
  std::span<const std::byte> bytes;  ///< until the next call of next()
};

/// A record that was not written whole is the end of the log, as a kill or a power cut leaves it:
/// nothing durable lies behind it. Damage that such an end cannot explain (a whole segment or a
/// record follows that was written when this one was durable, a file is shorter than it was
/// allocated, a segment is missing, a foreign or other-versioned segment, a position before begin()
/// or behind the end) throws Error with the file, the offset and what to do. docs/format.md has the
/// rule.
class LogReader {
 public:
  LogReader(const std::filesystem::path& folder, Position from);
  ~LogReader();
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  /// The next record; nothing at the end.
  std::optional<LogRecord> next();
  /// Behind the last whole record, once next() has returned nothing.
  Position end() const;
  /// Bytes of a torn record that lie behind the end.
  std::uint64_t torn_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace farvec::wal
