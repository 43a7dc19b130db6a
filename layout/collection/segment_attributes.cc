#include "layout/collection/segment_attributes.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/check.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "layout/collection/tuple_file.h"

namespace farvec::layout {
namespace {

using Header = SegmentAttributesHeader;

constexpr std::uint64_t kEndBytes = sizeof(std::uint64_t);
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

/// Returns where each tuple ends, when the first begins at 0.
std::vector<std::uint64_t> ends_of(const TupleView& tuples) {
  std::vector<std::uint64_t> ends;
  ends.reserve(tuples.count());
  for (const std::uint64_t end : tuples.ends) ends.push_back(end - tuples.begin);
  return ends;
}

Header checked_header(const FileBytes& file, const SegmentEntry& segment) {
  const auto header =
      read_sealed_header<Header>(file, kSegmentAttributes.magic, "a segment's attributes");
  if (header.segment != segment.number || header.rows != segment.rows) {
    throw Error(
        "{} is of segment {} with {} rows, the manifest has {} with {}: restore the "
        "folder as a whole",
        file.name(), header.segment, header.rows, segment.number, segment.rows);
  }
  const std::uint64_t others = segment_tuples_begin(header.rows);
  if (file.size() < others || file.size() - others != header.bytes) {
    throw Error("{} has {} bytes, not the {} of the attributes of {} rows: restore the file",
                file.name(), file.size(), others + header.bytes, header.rows);
  }
  return header;
}

Tuples read_tuples(const FileBytes& file, const Header& header, const Schema& schema) {
  Tuples tuples;
  tuples.ends.resize(header.rows);
  tuples.bytes.resize(header.bytes);
  file.read_at(sizeof(header), tuples.ends.data(), header.rows * kEndBytes);
  file.read_at(segment_tuples_begin(header.rows), tuples.bytes.data(), tuples.bytes.size());
  if (tuples_checksum_of(tuples.ends, tuples.bytes) != header.checksum) {
    throw Error("{} is damaged: its checksum does not match; restore the file", file.name());
  }
  check_tuples(tuples.view(), schema, file.name());
  return tuples;
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
    : file_(path.string()), header_(checked_header(FileBytes(file_), segment)) {}

Tuples SegmentAttributesFile::read(const Schema& schema) const {
  return read_tuples(FileBytes(file_), header_, schema);
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
  file_.read_at(segment_tuples_begin(header_.rows) + ends[0], tuple.data(), tuple.size());
  check_tuple(tuple, schema, fmt::format("'{}': row {}", file_.path(), row));
  return tuple;
}

Tuples decode_segment_attributes(std::span<const std::byte> bytes, const SegmentEntry& segment,
                                 const Schema& schema, std::string_view source) {
  const FileBytes file(bytes, source);
  return read_tuples(file, checked_header(file, segment), schema);
}

std::uint64_t segment_attributes_header(std::span<const std::byte> bytes,
                                        const SegmentEntry& segment, std::string_view source) {
  return checked_header(FileBytes(bytes, source), segment).header_checksum;
}

void require_segment_attributes_checksum(std::span<const std::byte> bytes,
                                         std::string_view source) {
  const auto header = load_unaligned<Header>(bytes.data());
  const std::uint64_t begin = segment_tuples_begin(header.rows);
  // The words are hashed as bytes, since the region need not be aligned for them.
  const std::uint64_t of_ends = XXH3_64bits(bytes.data() + sizeof(header), begin - sizeof(header));
  const auto tuples = bytes.subspan(begin, header.bytes);
  if (XXH3_64bits_withSeed(tuples.data(), tuples.size(), of_ends) == header.checksum) return;
  throw Error("{} is damaged: its checksum does not match; restore the file", source);
}

void require_segment_attributes_header(std::span<const std::byte> begin, std::uint64_t segment,
                                       std::string_view path) {
  const auto header =
      read_sealed_header<Header>(FileBytes(begin, fmt::format("'{}'", path)),
                                 kSegmentAttributes.magic, "a segment's attributes");
  if (header.segment == segment) return;
  throw Error("'{}' does not hold the attributes of segment {}", path, segment);
}

std::uint64_t segment_tuples_begin(std::uint64_t rows) {
  return sizeof(Header) + rows * kEndBytes;
}

FileSum sum_of_file(const std::filesystem::path& path) {
  const InputFile file(path.string());
  std::vector<std::byte> piece(std::min<std::uint64_t>(file.size(), kPieceBytes));
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       XXH3_freeState);
  XXH3_64bits_reset(state.get());
  for (std::uint64_t at = 0; at < file.size(); at += piece.size()) {
    const std::size_t bytes = std::min<std::uint64_t>(piece.size(), file.size() - at);
    file.read_at(at, piece.data(), bytes);
    XXH3_64bits_update(state.get(), piece.data(), bytes);
  }
  return {file.size(), XXH3_64bits_digest(state.get())};
}

void require_attributes_bytes(const SegmentEntry& segment, std::uint64_t bytes,
                              std::string_view source) {
  if (!segment.attributed && bytes == 0) return;
  const std::uint64_t least = segment_tuples_begin(segment.rows);
  const std::uint64_t most = least + segment.rows * kMostTupleBytes;
  if (segment.attributed && bytes >= least && bytes <= most) return;
  throw Error("{}: the attributes of segment {} cannot have {} bytes: it has {} rows {} attributes",
              source, segment.number, bytes, segment.rows, segment.attributed ? "with" : "without");
}

}  // namespace farvec::layout
