// A log on memories elsewhere: made, brought to one state after a writer's death, opened.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "layout/log/log_region.h"
#include "wal/log.h"
#include "wal/log_memory.h"

namespace farvec::wal {

/// Who writes a log, and on what: every memory of the log, null where it cannot be reached.
struct RegionWriters {
  LogMemories copies;
  /// Those that have to have what is acknowledged; as many fewer may be lost.
  std::uint16_t needed = 1;
  std::uint32_t epoch = 0;   ///< above those of all writers before, as far as the memories know
  LogReach reach = nullptr;  ///< of those that come back; null: they are left out until an opening
};

/// Copies that must answer, so that one of them has all that was acknowledged.
inline std::size_t fewest_answers(std::size_t copies, std::size_t needed) {
  return copies - needed + 1;
}

/// What a log in a region asks of LogOptions; the folder is not looked at.
LogOptions region_options(const LogOptions& options, const layout::LogRegionHeader& header);

/// Which log it is, for those who write it.
struct RegionLogName {
  std::uint64_t log_id = 0;
  /// Of the last writer that is known; a log with a later one was written by somebody else since,
  /// and is refused. Nothing: every log of that id is taken.
  std::optional<std::uint32_t> last_epoch = {};
};

/// The epoch that a new writer gives a log whose last one is known.
std::uint32_t next_log_epoch(const RegionWriters& writers, const RegionLogName& name);

/// A new, empty log on memories of zeros, or of the log of that name, which is gone then. All of
/// them are there. Throws Error when one holds another log, or is too small.
std::unique_ptr<Log> create_region_log(const RegionWriters& writers, const RegionLogName& name,
                                       const LogOptions& options);

/// Every copy is what the one that is ahead of all others is. Returns the header to open it with.
/// Throws Error when fewer copies than must are there and sound, naming each with what is wrong,
/// and when one was written by somebody else since.
layout::LogRegionHeader recover_region_log(const RegionWriters& writers, const RegionLogName& name);

/// As Log::open(), of a log that has been recovered.
std::unique_ptr<Log> open_region_log(const RegionWriters& writers,
                                     const layout::LogRegionHeader& header,
                                     const LogOptions& options);

}  // namespace farvec::wal
