#include "layout/collection/out_file.h"

#include <cstdint>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "layout/collection/segment_file.h"

namespace farvec::layout {
namespace {

static_assert(SegmentFileHeader::kWordBits == RowSet::kWordBits);

SegmentFileHeader out_header(const SegmentEntry& segment) {
  return {.kind = SegmentFileKind::out,
          .segment = segment.number,
          .rows = segment.rows,
          .out_version = segment.out_version,
          .out_count = segment.out_count};
}

/// Whether bits of the last word are set where the segment has no rows any more.
bool has_rows_behind(const std::vector<std::uint64_t>& words, std::uint64_t rows) {
  const std::uint64_t used = rows % RowSet::kWordBits;
  return used != 0 && (words.back() >> used) != 0;
}

}  // namespace

void write_out_file(const std::filesystem::path& path, const SegmentEntry& segment,
                    const RowSet& out) {
  FARVEC_CHECK(out.count() == segment.out_count, "{} rows are out, not {}", out.count(),
               segment.out_count);
  write_segment_file(path, out_header(segment), out.to_words(segment.rows));
}

RowSet read_out_file(const std::filesystem::path& path, const SegmentEntry& segment) {
  const std::vector<std::uint64_t> words = read_segment_file(path, out_header(segment));
  if (has_rows_behind(words, segment.rows)) {
    throw Error("'{}' has rows after the segment's last of {}: restore the file", path.string(),
                segment.rows);
  }
  RowSet out = RowSet::from_words(words);
  if (out.count() != segment.out_count) {
    throw Error("'{}' has {} rows that are out, and says {}: restore the file", path.string(),
                out.count(), segment.out_count);
  }
  return out;
}

}  // namespace farvec::layout
