// The segments of a log as they lie in its folder, known by their headers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "layout/log/log_segment.h"

namespace farvec::wal {

struct Segment {
  std::string path;
  std::uint64_t file_bytes = 0;
  layout::LogSegmentHeader header;
};

/// "000000000000002a.log"; with ".partial" behind it until its header is durable.
std::string segment_name(std::uint64_t number);
inline constexpr const char* kPartialSuffix = ".partial";
/// Whether a segment that is not durable yet has this name.
bool is_partial_segment(const std::string& name);

/// In their order; none when the folder has none. Files of other names are not looked at. Throws
/// Error when a header is not sound, one of them is of another log, or one is missing between.
std::vector<Segment> list_segments(const std::filesystem::path& folder);

/// Removes the segments of the log in `folder`, those that were being written too, and the folder
/// when nothing else is in it; files of others stay. Throws as list_segments(), and
/// std::filesystem errors; a folder that is not there is no error.
void remove_segments(const std::filesystem::path& folder);

/// Throws Error when `after` cannot follow `before` in one log.
void check_neighbors(const Segment& before, const Segment& after);

}  // namespace farvec::wal
