#include "layout/collection/segment_ids.h"

#include "base/error.h"
#include "layout/collection/repeated_id.h"
#include "layout/collection/segment_file.h"

namespace farvec::layout {
namespace {

SegmentFileHeader ids_header(const SegmentEntry& segment) {
  return {.kind = SegmentFileKind::ids, .segment = segment.number, .rows = segment.rows};
}

std::vector<std::uint64_t> each_once(std::vector<std::uint64_t> ids, std::string_view source) {
  const auto twice = repeated_id(ids);
  if (twice) throw Error("'{}' has id {} twice: restore the file", source, *twice);
  return ids;
}

}  // namespace

void write_segment_ids(const std::filesystem::path& path, const SegmentEntry& segment,
                       std::span<const std::uint64_t> ids) {
  write_segment_file(path, ids_header(segment), ids);
}

std::vector<std::uint64_t> read_segment_ids(const std::filesystem::path& path,
                                            const SegmentEntry& segment) {
  return each_once(read_segment_file(path, ids_header(segment)), path.string());
}

std::vector<std::uint64_t> decode_segment_ids(std::span<const std::byte> bytes,
                                              const SegmentEntry& segment,
                                              std::string_view source) {
  return each_once(decode_segment_file(bytes, ids_header(segment), source), source);
}

void require_segment_ids_header(std::span<const std::byte> begin, std::uint64_t segment,
                                std::string_view source) {
  static_assert(kSegmentIdsHeaderBytes == sizeof(SegmentFileHeader));
  const SegmentFileHeader header = decode_segment_header(begin, source);
  if (header.kind == SegmentFileKind::ids && header.segment == segment) return;
  throw Error("'{}' does not hold the ids of segment {}", source, segment);
}

std::uint64_t segment_ids_bytes(const SegmentEntry& segment) {
  return sizeof(SegmentFileHeader) + ids_header(segment).words() * sizeof(std::uint64_t);
}

std::uint64_t segment_ids_checksum(const SegmentEntry& segment,
                                   std::span<const std::uint64_t> ids) {
  return segment_file_checksum(ids_header(segment), ids);
}

}  // namespace farvec::layout
