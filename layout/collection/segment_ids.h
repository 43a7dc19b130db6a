// The file of a segment's ids: which id of the user's each row has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "layout/collection/collection_manifest.h"

namespace farvec::layout {

/// `ids` by row, as many as the segment has, none twice; the outs of `segment` do not matter.
/// Replaces a file of that name in one step. Throws SystemError as OutputFile does.
void write_segment_ids(const std::filesystem::path& path, const SegmentEntry& segment,
                       std::span<const std::uint64_t> ids);

/// By row. Throws Error with the file and what is wrong: it is missing, truncated, damaged, of
/// another format, version or segment, has another count of rows, or an id twice. Takes twice the
/// memory of the ids, which it sorts.
std::vector<std::uint64_t> read_segment_ids(const std::filesystem::path& path,
                                            const SegmentEntry& segment);

}  // namespace farvec::layout
