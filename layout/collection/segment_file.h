// Reads and writes files with a fact about every row of a segment: a header, and words of 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "layout/collection/collection_format.h"
#include "layout/index/companion_file.h"

namespace farvec::layout {

enum class SegmentFileKind : std::uint32_t {
  ids = 1,  ///< a word for each row: its id
  out = 2,  ///< a bit for each row: whether it is out
};

/// Begins a file, little-endian; see docs/format.md. The words follow. All fields but the checksums
/// follow from the manifest, and readers compare them: the file of another segment is refused even
/// when it has the same length.
struct SegmentFileHeader {
  static constexpr std::uint64_t kMagic = kSegmentIds.magic;

  std::uint64_t magic = kMagic;
  std::uint32_t format_version = kCollectionVersion;
  SegmentFileKind kind = SegmentFileKind::ids;
  std::uint64_t segment = 0;  ///< its number
  std::uint64_t rows = 0;
  std::uint64_t out_version = 0;     ///< for rows that are out, the collection's version; for ids 0
  std::uint64_t out_count = 0;       ///< rows that are out; for ids 0
  std::uint64_t words_checksum = 0;  ///< XXH3-64 of the words
  std::uint64_t header_checksum = 0;  ///< XXH3-64 of the 56 bytes before it

  std::uint64_t words() const {
    return kind == SegmentFileKind::ids ? rows : (rows + kWordBits - 1) / kWordBits;
  }
  static constexpr std::uint64_t kWordBits = 64;
};
static_assert(sizeof(SegmentFileHeader) == 64);
static_assert(offsetof(SegmentFileHeader, kind) == 12);
static_assert(offsetof(SegmentFileHeader, segment) == 16);
static_assert(offsetof(SegmentFileHeader, out_version) == 32);
static_assert(offsetof(SegmentFileHeader, words_checksum) == 48);
static_assert(offsetof(SegmentFileHeader, header_checksum) == 56);

/// Fills in the checksums. A file of that name is replaced in one step, see OutputFile.
void write_segment_file(const std::filesystem::path& path, SegmentFileHeader header,
                        std::span<const std::uint64_t> words);

/// Returns the words of a file whose header must be `expected`, except for the checksums, which are
/// verified. Throws Error with the file and what is wrong.
std::vector<std::uint64_t> read_segment_file(const std::filesystem::path& path,
                                             const SegmentFileHeader& expected);
/// Decodes a file's bytes, wherever they came from; `source` is for messages.
std::vector<std::uint64_t> decode_segment_file(std::span<const std::byte> bytes,
                                               const SegmentFileHeader& expected,
                                               std::string_view source);

/// Returns the header with which the bytes begin. Throws Error, naming `source`, when it is none,
/// or has another version.
SegmentFileHeader decode_segment_header(std::span<const std::byte> begin, std::string_view source);

/// Returns XXH3-64 of all bytes that write_segment_file() writes.
std::uint64_t segment_file_checksum(SegmentFileHeader header, std::span<const std::uint64_t> words);

}  // namespace farvec::layout
