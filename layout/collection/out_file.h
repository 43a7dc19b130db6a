// Reads and writes the file of a segment's rows that are out: erased or replaced since the segment
// was built.
#pragma once

#include <filesystem>

#include "base/row_set.h"
#include "layout/collection/collection_manifest.h"

namespace farvec::layout {

/// `out` has the out_count rows of `segment` that are out at out_version. A file of that name is
/// replaced in one step. Throws SystemError like OutputFile.
void write_out_file(const std::filesystem::path& path, const SegmentEntry& segment,
                    const RowSet& out);

/// Throws Error with the file and what is wrong: it is missing, truncated, damaged, of another
/// format, version, segment or state of the collection, or has another count of rows than it says,
/// or rows after the segment's last.
RowSet read_out_file(const std::filesystem::path& path, const SegmentEntry& segment);

}  // namespace farvec::layout
