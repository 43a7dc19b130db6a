// Reads and writes the file of a segment's attributes: the tuple of each row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/input_file.h"
#include "base/types.h"
#include "layout/attributes/tuple.h"
#include "layout/attributes/tuple_source.h"
#include "layout/collection/collection_manifest.h"
#include "layout/index/companion_file.h"

namespace farvec::layout {

inline constexpr const char* kSegmentAttributesFile = kSegmentAttributes.name;

/// Begins the file, little-endian; see docs/format.md. 8 bytes for each row say where its tuple
/// ends, and the tuples follow.
struct SegmentAttributesHeader {
  std::uint64_t magic = kSegmentAttributes.magic;
  std::uint32_t format_version = kCollectionVersion;
  std::uint32_t reserved = 0;
  std::uint64_t segment = 0;  ///< its number
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;     ///< bytes of the tuples
  std::uint64_t checksum = 0;  ///< XXH3-64 of the tuples, seeded with that of the ends
  std::uint64_t reserved_too = 0;
  std::uint64_t header_checksum = 0;  ///< XXH3-64 of the 56 bytes before it
};
static_assert(sizeof(SegmentAttributesHeader) == 64);

/// There is a tuple for each row. A file of that name is replaced in one step. Throws SystemError
/// like OutputFile.
void write_segment_attributes(const std::filesystem::path& path, const SegmentEntry& segment,
                              const TupleView& tuples);

/// A SegmentAttributesFile is open for reading. Threads share it.
class SegmentAttributesFile final : public TupleSource {
 public:
  /// Throws Error with the file and what is wrong: it is missing, truncated, of another format,
  /// version or segment, or its header is damaged.
  SegmentAttributesFile(const std::filesystem::path& path, const SegmentEntry& segment);

  /// Tells this file from others that may take its place.
  std::uint64_t header_checksum() const { return header_.header_checksum; }
  /// Returns the tuples of all rows. Throws Error when the bytes are damaged, or do not fit the
  /// schema.
  Tuples read(const Schema& schema) const override;
  /// Returns the tuple of one row, which must exist. Throws Error when it is not sound.
  std::vector<std::byte> read_row(NodeId row, const Schema& schema) const override;

 private:
  const InputFile file_;
  SegmentAttributesHeader header_;
};

/// Decodes the file's bytes, which came from `source`. Throws Error, naming it, for what
/// SegmentAttributesFile and its read() refuse.
Tuples decode_segment_attributes(std::span<const std::byte> bytes, const SegmentEntry& segment,
                                 const Schema& schema, std::string_view source);

/// Returns the header_checksum() of a file's bytes, whose header alone is looked at. Throws Error,
/// naming `source`, for what SegmentAttributesFile refuses.
std::uint64_t segment_attributes_header(std::span<const std::byte> bytes,
                                        const SegmentEntry& segment, std::string_view source);
/// Throws Error, naming `source`, unless a file's bytes, whose header is sound, have the checksum
/// that it says. It looks at no tuple, and copies nothing.
void require_segment_attributes_checksum(std::span<const std::byte> bytes, std::string_view source);

/// Throws Error, naming `path`, unless the bytes begin with the header of the file of attributes of
/// the segment with that number. The header has 64 bytes.
void require_segment_attributes_header(std::span<const std::byte> begin, std::uint64_t segment,
                                       std::string_view path);

/// Returns where the first tuple begins in the file.
std::uint64_t segment_tuples_begin(std::uint64_t rows);

/// A FileSum tells the bytes of a file from others. It is empty where there is no file.
struct FileSum {
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;  ///< XXH3-64 of all of them

  bool operator==(const FileSum&) const = default;
};
/// Reads the file. Throws what InputFile throws.
FileSum sum_of_file(const std::filesystem::path& path);
/// Throws Error, naming `source`, unless a segment may have a file of attributes of that length.
void require_attributes_bytes(const SegmentEntry& segment, std::uint64_t bytes,
                              std::string_view source);

}  // namespace farvec::layout
