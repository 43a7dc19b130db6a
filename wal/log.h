// A Log is a log of records: a record that is acknowledged is in it, and is durable before anything
// else is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "base/clock.h"
#include "base/status.h"
#include "wal/log_memory.h"

namespace farvec::wal {

/// A Position is a place between two records: bytes since the log was made, with a gap at every
/// open(). So no position is used twice, not even one of records that a kill left unwritten.
using Position = std::uint64_t;

enum class Durability : std::uint8_t {
  commit,    ///< wait() returns when the record is on the disk
  interval,  ///< written and made durable at intervals; wait() does not wait
  none,      ///< made durable on demand: flush()
};

/// append() waits at most this long for a disk that does not take what is pending.
inline constexpr double kAppendWaitUs = 10e6;

struct LogOptions {
  std::filesystem::path folder;  ///< the folder of segments; create() makes it
  Durability durability = Durability::commit;
  double interval_us = 10'000;                ///< with Durability::interval
  std::uint64_t segment_bytes = 64ull << 20;  ///< allocated on the disk before use; 8 KiB to 1 GiB
  std::uint64_t pending_bytes = 8ull << 20;   ///< the most bytes of records that wait to be written
};

/// Threads share it. A thread of the log's own writes and syncs for all that wait (group commit).
///
/// A failed write or sync ends the log. From then on append() and wait() return that error
/// (unavailable; resource_exhausted when a disk had no room for bytes that it had allocated). What
/// was durable stays, and the next open() finds it. Nothing is written after a failure.
class Log {
 public:
  /// Makes a new, empty log. Throws Error when the folder already has one.
  static std::unique_ptr<Log> create(const LogOptions& options);
  /// Continues after the last whole record (LogReader says what is checked). A caller that needs
  /// the records reads them first. Throws Error like LogReader, or when another process has the log
  /// open.
  static std::unique_ptr<Log> open(const LogOptions& options);

  virtual ~Log() = default;  ///< makes durable what was appended

  /// Takes a record, in parts that are joined, and returns the position after it. Records are in
  /// the order of the calls. It does not wait for the disk unless pending_bytes are waiting. Then
  /// it waits until `deadline`, at most kAppendWaitUs, and returns deadline_exceeded: nothing was
  /// taken. Once per segment it allocates the next one, whatever the deadline. Returns
  /// resource_exhausted when the disk is full, and unavailable when the segment cannot be made for
  /// another reason: nothing was taken, and the log goes on when there is room again. Returns
  /// invalid_argument for more than max_record_bytes().
  virtual Result<Position> append(std::span<const std::span<const std::byte>> parts,
                                  Ticks deadline) = 0;
  Result<Position> append(std::span<const std::span<const std::byte>> parts) {
    return append(parts, now_ticks() + us_to_ticks(kAppendWaitUs));
  }
  /// Waits until a record of this many bytes could be appended without waiting, unless other
  /// threads append first. For a caller that releases a lock meanwhile. Returns deadline_exceeded
  /// like append(), or failure().
  virtual Status wait_for_room(std::uint64_t record_bytes, Ticks deadline) = 0;

  virtual std::size_t max_record_bytes() const = 0;
  /// Returns the position after the last record that was appended.
  virtual Position end() const = 0;
  /// All records before it are on the disk. Fibers poll this instead of calling wait().
  virtual Position durable() const = 0;
  /// Returns the error that ended the log, or ok.
  virtual Status failure() const = 0;
  /// Asks for durability up to `position` as soon as possible; never blocks. With
  /// Durability::commit every append() asks.
  virtual void request(Position position) = 0;
  /// Blocks the thread until durable() has reached `position`, whatever the durability. Returns
  /// deadline_exceeded, or failure().
  virtual Status flush(Position position, Ticks deadline) = 0;
  /// Does flush() when the durability is commit; returns ok at once otherwise.
  virtual Status wait(Position position, Ticks deadline) = 0;

  /// Records before `position` are not needed any more: whole segments before it are deleted, each
  /// durably before the next (this blocks the thread). A segment that cannot be deleted stays, with
  /// a warning.
  virtual void cut(Position position) = 0;
  /// Returns the bytes of all segments.
  virtual std::uint64_t disk_bytes() const = 0;
  /// Returns the state of the copies in memories elsewhere. Never waits.
  virtual LogCopies copies() const { return {}; }
  /// Returns the oldest position that still exists.
  virtual Position begin() const = 0;
};

}  // namespace farvec::wal
