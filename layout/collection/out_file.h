// The file of a segment's rows that are out: erased or replaced since the segment was built.
#pragma once

#include <filesystem>

#include "base/row_set.h"
#include "layout/collection/collection_manifest.h"

namespace farvec::layout {

/// `out` has the out_count rows of `segment`, as of out_version. Replaces a file of that name in
/// one step. Throws SystemError as OutputFile does.
void write_out_file(const std::filesystem::path& path, const SegmentEntry& segment,
                    const RowSet& out);

/// Throws Error with the file and what is wrong: it is missing, truncated, damaged, of another
/// format, version, segment or state of the collection, or has another count of rows than it says,
/// or rows behind the segment's last.
RowSet read_out_file(const std::filesystem::path& path, const SegmentEntry& segment);

}  // namespace farvec::layout
