// A log of records: what is acknowledged lies in it and is durable before anything else is written.
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

/// A place between two records: bytes since the log was made, and a gap at every open(), so that no
/// position is used twice, also not of records that a kill left unwritten.
using Position = std::uint64_t;

enum class Durability : std::uint8_t {
  commit,    ///< wait() returns when the record is on the disk
  interval,  ///< written and made durable every so often; wait() does not wait
  none,      ///< made durable when somebody asks: flush()
};

/// append() waits so long for a disk that does not take what is pending.
inline constexpr double kAppendWaitUs = 10e6;

struct LogOptions {
  std::filesystem::path folder;  ///< of segments; made by create()
  Durability durability = Durability::commit;
  double interval_us = 10'000;                ///< with Durability::interval
  std::uint64_t segment_bytes = 64ull << 20;  ///< allocated on the disk before use; 8 KiB to 1 GiB
  std::uint64_t pending_bytes = 8ull << 20;   ///< records that wait to be written, at most
};

/// Shared by threads; one thread of its own writes and syncs for all who wait (group commit).
///
/// A failed write or sync ends the log: from then on append() and wait() answer with that error
/// (unavailable; resource_exhausted when a disk had no room for bytes that it had allocated), what
/// was durable stays, and the next open() finds it. Nothing is written behind a failure.
class Log {
 public:
  /// A new, empty log. Throws Error when the folder holds one already.
  static std::unique_ptr<Log> create(const LogOptions& options);
  /// Goes on behind the last whole record (see LogReader for what is checked). Whoever needs the
  /// records reads them first. Throws Error as LogReader does, or when another process has it open.
  static std::unique_ptr<Log> open(const LogOptions& options);

  virtual ~Log() = default;  ///< makes durable what was appended

  /// Takes a record, in parts that are put together, and answers with the position behind it.
  /// Records lie in the order of their calls. Does not wait for the disk unless pending_bytes are
  /// waiting: then until `deadline`, at most kAppendWaitUs, and deadline_exceeded: nothing was
  /// taken. Once in a segment it allocates the next one, whatever the deadline. resource_exhausted
  /// when the disk is full, unavailable when the segment cannot be made for another reason: nothing
  /// was taken, and the log goes on when there is room again; invalid_argument beyond
  /// max_record_bytes().
  virtual Result<Position> append(std::span<const std::span<const std::byte>> parts,
                                  Ticks deadline) = 0;
  Result<Position> append(std::span<const std::span<const std::byte>> parts) {
    return append(parts, now_ticks() + us_to_ticks(kAppendWaitUs));
  }
  /// Until a record of so many bytes could be appended without waiting, unless others come first:
  /// for who has a lock to let go of meanwhile. deadline_exceeded as append(), or failure().
  virtual Status wait_for_room(std::uint64_t record_bytes, Ticks deadline) = 0;

  virtual std::size_t max_record_bytes() const = 0;
  /// Behind the last record that was appended.
  virtual Position end() const = 0;
  /// All records before it are on the disk. Fibers poll this instead of calling wait().
  virtual Position durable() const = 0;
  /// What ended the log, or ok.
  virtual Status failure() const = 0;
  /// Asks for durability up to `position` as soon as may be; never blocks. With
  /// Durability::commit every append() asks.
  virtual void request(Position position) = 0;
  /// Blocks the thread until durable() has reached `position`, whatever the durability; deadline_
  /// exceeded, or failure().
  virtual Status flush(Position position, Ticks deadline) = 0;
  /// flush() where the durability is commit; ok at once otherwise.
  virtual Status wait(Position position, Ticks deadline) = 0;

  /// Records before `position` are not needed any more: whole segments before it are deleted, each
  /// for good before the next (blocks the thread). What cannot be deleted stays, with a warning.
  virtual void cut(Position position) = 0;
  /// Of all segments.
  virtual std::uint64_t disk_bytes() const = 0;
  /// In memories elsewhere. Never waits.
  virtual LogCopies copies() const { return {}; }
  /// The oldest position that is still there.
  virtual Position begin() const = 0;
};

}  // namespace farvec::wal
