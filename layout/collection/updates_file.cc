#include "layout/collection/updates_file.h"

#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/output_file.h"
#include "layout/collection/tuple_file.h"

namespace farvec::layout {
namespace {

/// The numbers of the rows, and then where their tuples end.
using Words = std::vector<std::uint64_t>;

constexpr std::uint64_t kRowBytes = 2 * sizeof(std::uint64_t);

UpdatesHeader checked_updates_header(const FileBytes& file, const SegmentEntry& segment) {
  const auto header =
      read_sealed_header<UpdatesHeader>(file, UpdatesHeader::kMagic, "updated attributes");
  if (header.segment != segment.number || header.version != segment.update_version ||
      header.count != segment.update_count) {
    throw Error(
        "{} is of segment {} with {} updated rows at version {}, the manifest has {} with {} at "
        "{}: restore the folder as a whole",
        file.name(), header.segment, header.count, header.version, segment.number,
        segment.update_count, segment.update_version);
  }
  if (header.reserved != 0) {
    throw Error("{} has reserved bytes that are not zero: restore the file", file.name());
  }
  // The manifest's count is at most that of the segment's rows: this cannot overflow.
  const std::uint64_t others = sizeof(header) + header.count * kRowBytes;
  if (file.size() < others || file.size() - others != header.bytes) {
    throw Error("{} has {} bytes, not those of the attributes of {} rows: restore the file",
                file.name(), file.size(), header.count);
  }
  return header;
}

std::vector<NodeId> checked_rows(std::span<const std::uint64_t> numbers,
                                 const SegmentEntry& segment, const std::string& name) {
  std::vector<NodeId> rows;
  rows.reserve(numbers.size());
  for (const std::uint64_t number : numbers) {
    const bool ascends = rows.empty() || number > rows.back();
    if (number >= segment.rows || !ascends) {
      throw Error("{} has row {} of a segment of {} where it cannot be: restore the file", name,
                  number, segment.rows);
    }
    rows.push_back(static_cast<NodeId>(number));
  }
  return rows;
}

}  // namespace

std::vector<std::byte> encode_updates(const SegmentEntry& segment, const UpdatedTuples& updates) {
  FARVEC_CHECK(updates.count() == segment.update_count, "{} rows are updated, not {}",
               updates.count(), segment.update_count);
  const std::vector<NodeId> rows = updates.rows();
  Tuples tuples;
  for (const NodeId row : rows) tuples.append(updates.find(row));
  Words words(rows.begin(), rows.end());
  words.insert(words.end(), tuples.ends.begin(), tuples.ends.end());
  UpdatesHeader header{.segment = segment.number,
                       .version = segment.update_version,
                       .count = segment.update_count,
                       .bytes = tuples.bytes.size()};
  header.checksum = tuples_checksum_of(words, tuples.bytes);
  header.header_checksum = header_checksum_of(header);
  std::vector<std::byte> bytes;
  for (const auto part : {std::as_bytes(std::span(&header, 1)), std::as_bytes(std::span(words)),
                          std::span<const std::byte>(tuples.bytes)}) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

UpdatedTuples decode_updates(const FileBytes& file, const SegmentEntry& segment,
                             const Schema& schema) {
  const UpdatesHeader header = checked_updates_header(file, segment);
  Words words(2 * header.count);
  std::vector<std::byte> bytes(header.bytes);
  const std::size_t words_bytes = words.size() * sizeof(words[0]);
  file.read_at(sizeof(header), words.data(), words_bytes);
  file.read_at(sizeof(header) + words_bytes, bytes.data(), bytes.size());
  if (tuples_checksum_of(words, bytes) != header.checksum) {
    throw Error("{} is damaged: its checksum does not match; restore the file", file.name());
  }
  const auto numbers = std::span(words).first(header.count);
  const TupleView tuples{std::span(words).subspan(header.count), bytes};
  const std::vector<NodeId> rows = checked_rows(numbers, segment, file.name());
  check_tuples(tuples, schema, file.name());
  return UpdatedTuples().with(rows, tuples);
}

void write_updates(const std::filesystem::path& path, const SegmentEntry& segment,
                   const UpdatedTuples& updates) {
  const std::vector<std::byte> bytes = encode_updates(segment, updates);
  OutputFile file(path.string(), bytes.size());
  file.append(bytes.data(), bytes.size());
  file.commit();
}

UpdatedTuples read_updates(const std::filesystem::path& path, const SegmentEntry& segment,
                           const Schema& schema) {
  const InputFile file(path.string());
  return decode_updates(FileBytes(file), segment, schema);
}

}  // namespace farvec::layout
