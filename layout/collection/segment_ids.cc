#include "layout/collection/segment_ids.h"

#include "base/error.h"
#include "layout/collection/repeated_id.h"
#include "layout/collection/segment_file.h"

namespace farvec::layout {
namespace {

SegmentFileHeader ids_header(const SegmentEntry& segment) {
  return {.kind = SegmentFileKind::ids, .segment = segment.number, .rows = segment.rows};
}

}  // namespace

void write_segment_ids(const std::filesystem::path& path, const SegmentEntry& segment,
                       std::span<const std::uint64_t> ids) {
  write_segment_file(path, ids_header(segment), ids);
}

std::vector<std::uint64_t> read_segment_ids(const std::filesystem::path& path,
                                            const SegmentEntry& segment) {
  std::vector<std::uint64_t> ids = read_segment_file(path, ids_header(segment));
  if (const auto twice = repeated_id(ids)) {
    throw Error("'{}' has id {} twice: restore the file", path.string(), *twice);
  }
  return ids;
}

}  // namespace farvec::layout
