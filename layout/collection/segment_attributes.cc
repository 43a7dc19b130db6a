#include "layout/collection/segment_attributes.h"

#include <array>
#include <cstddef>

#include "base/check.h"
#include "base/error.h"
#include "base/output_file.h"
#include "layout/collection/tuple_file.h"

namespace farvec::layout {
namespace {

using Header = SegmentAttributesHeader;

constexpr std::uint64_t kEndBytes = sizeof(std::uint64_t);

/// Returns where each tuple ends, when the first begins at 0.
std::vector<std::uint64_t> ends_of(const TupleView& tuples) {
  std::vector<std::uint64_t> ends;
  ends.reserve(tuples.count());
  for (const std::uint64_t end : tuples.ends) ends.push_back(end - tuples.begin);
  return ends;
}

Header checked_header(const InputFile& file, const SegmentEntry& segment) {
  const auto header =
      read_sealed_header<Header>(file, kSegmentAttributes.magic, "a segment's attributes");
  if (header.segment != segment.number || header.rows != segment.rows) {
    throw Error(
        "'{}' is of segment {} with {} rows, the manifest has {} with {}: restore the "
        "folder as a whole",
        file.path(), header.segment, header.rows, segment.number, segment.rows);
  }
  const std::uint64_t others = sizeof(header) + header.rows * kEndBytes;
  if (file.size() < others || file.size() - others != header.bytes) {
    throw Error("'{}' has {} bytes, not the {} of the attributes of {} rows: restore the file",
                file.path(), file.size(), others + header.bytes, header.rows);
  }
  return header;
}

}  // namespace

void write_segment_attributes(const std::filesystem::path& path, const SegmentEntry& segment,
                              const TupleView& tuples) {
  FARVEC_CHECK(tuples.count() == segment.rows, "{} tuples for {} rows", tuples.count(),
               segment.rows);
  const std::vector<std::uint64_t> ends = ends_of(tuples);
  const auto bytes = tuples.bytes.subspan(tuples.begin, ends.empty() ? 0 : ends.back());
  Header header{.segment = segment.number, .rows = segment.rows, .bytes = bytes.size()};
  header.checksum = tuples_checksum_of(ends, bytes);
  header.header_checksum = header_checksum_of(header);
  const std::span<const std::uint64_t> words(ends);
  OutputFile file(path.string(), sizeof(header) + words.size_bytes() + bytes.size());
  file.append(&header, sizeof(header));
  file.append(words.data(), words.size_bytes());
  file.append(bytes.data(), bytes.size());
  file.commit();
}

SegmentAttributesFile::SegmentAttributesFile(const std::filesystem::path& path,
                                             const SegmentEntry& segment)
    : file_(path.string()), header_(checked_header(file_, segment)) {}

Tuples SegmentAttributesFile::read(const Schema& schema) const {
  Tuples tuples;
  tuples.ends.resize(header_.rows);
  tuples.bytes.resize(header_.bytes);
  const std::uint64_t ends_bytes = header_.rows * kEndBytes;
  file_.read_at(sizeof(header_), tuples.ends.data(), ends_bytes);
  file_.read_at(sizeof(header_) + ends_bytes, tuples.bytes.data(), tuples.bytes.size());
  if (tuples_checksum_of(tuples.ends, tuples.bytes) != header_.checksum) {
    throw Error("'{}' is damaged: its checksum does not match; restore the file", file_.path());
  }
  check_tuples(tuples.view(), schema, fmt::format("'{}'", file_.path()));
  return tuples;
}

std::vector<std::byte> SegmentAttributesFile::read_row(NodeId row, const Schema& schema) const {
  std::array<std::uint64_t, 2> ends{};
  const std::size_t known = row == 0 ? 1 : 2;  // the first row begins at 0
  const std::uint64_t first_end = row == 0 ? 0 : row - 1;
  file_.read_at(sizeof(header_) + first_end * kEndBytes, ends.data() + 2 - known,
                known * kEndBytes);
  if (ends[0] > ends[1] || ends[1] > header_.bytes || ends[1] - ends[0] > kMostTupleBytes) {
    throw Error("'{}' is damaged: the attributes of row {} end where they cannot; restore the file",
                file_.path(), row);
  }
  std::vector<std::byte> tuple(ends[1] - ends[0]);
  file_.read_at(sizeof(header_) + header_.rows * kEndBytes + ends[0], tuple.data(), tuple.size());
  check_tuple(tuple, schema, fmt::format("'{}': row {}", file_.path(), row));
  return tuple;
}

}  // namespace farvec::layout
