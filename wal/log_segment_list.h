// Lists the segments of a log in its folder, which their headers identify.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "layout/log/log_segment.h"

namespace farvec::wal {

struct LogSegment {
  std::string path;
  std::uint64_t file_bytes = 0;
  layout::LogSegmentHeader header;
};

/// Returns the name of a segment's file, "000000000000002a.log"; ".partial" follows until its
/// header is durable.
std::string log_segment_name(std::uint64_t number);
inline constexpr const char* kPartialSuffix = ".partial";
/// Says whether a segment that is not durable yet has such a name.
bool is_partial_segment(const std::string& name);

/// Returns the segments in their order; empty when the folder has none. Files with other names are
/// ignored. Throws Error when a header is not sound, a segment belongs to another log, or one is
/// missing in between.
std::vector<LogSegment> list_log_segments(const std::filesystem::path& folder);

/// Removes the segments of the log in `folder`, including those that were being written, and the
/// folder when nothing else is in it; other files stay. Throws what list_log_segments() throws, and
/// std::filesystem errors; a missing folder is no error.
void remove_log_segments(const std::filesystem::path& folder);

/// Throws Error when `after` cannot follow `before` in one log.
void check_neighbors(const LogSegment& before, const LogSegment& after);

}  // namespace farvec::wal
