// Makes, recovers and opens a log on memories elsewhere. Recovery brings all copies to one state
// after a writer's death.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "layout/log/log_region.h"
#include "wal/log.h"
#include "wal/log_memory.h"

namespace farvec::wal {

/// RegionWriters has the writer's epoch and the memories of the log, null where one cannot be
/// reached.
struct RegionWriters {
  LogMemories copies;
  /// How many memories must have what is acknowledged; one fewer may be lost without losing any of
  /// it.
  std::uint16_t needed = 1;
  std::uint32_t epoch = 0;  ///< above the epochs of all writers before, as far as the memories know
  LogReach reach = nullptr;  ///< reaches memories that come back; null: these are left out until
                             ///< the log is opened again
};

/// Returns the number of copies that must answer, so that one of them has all that was
/// acknowledged.
inline std::size_t fewest_answers(std::size_t copies, std::size_t needed) {
  return copies - needed + 1;
}

/// Returns the part of LogOptions that a log in a region needs; the folder is ignored.
LogOptions region_options(const LogOptions& options, const layout::LogRegionHeader& header);

/// Identifies the log, for its writers.
struct RegionLogName {
  std::uint64_t log_id = 0;
  /// The epoch of the last known writer. A log with a later epoch was written by another writer
  /// since, and is refused. Without a value every log of that id is taken.
  std::optional<std::uint32_t> last_epoch = {};
};

/// Returns the epoch that a new writer gives to a log whose last epoch is known.
std::uint32_t next_log_epoch(const RegionWriters& writers, const RegionLogName& name);

/// Makes a new, empty log on memories that hold zeros, or the log of that name, which is then lost.
/// All memories must be reachable. Throws Error when one holds another log, or is too small.
std::unique_ptr<Log> create_region_log(const RegionWriters& writers, const RegionLogName& name,
                                       const LogOptions& options);

/// Makes every copy equal to the one that is ahead of all others. Returns the header to open it
/// with. Throws Error when too few copies are reachable and sound, naming each with what is wrong,
/// and when another writer has written one since.
layout::LogRegionHeader recover_region_log(const RegionWriters& writers, const RegionLogName& name);

/// Opens a log that has been recovered, like Log::open().
std::unique_ptr<Log> open_region_log(const RegionWriters& writers,
                                     const layout::LogRegionHeader& header,
                                     const LogOptions& options);

}  // namespace farvec::wal
