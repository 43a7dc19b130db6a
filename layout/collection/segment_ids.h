// Reads and writes the file of a segment's ids: which of the user's ids each row has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "layout/collection/collection_manifest.h"

namespace farvec::layout {

/// `ids` has one id per row of the segment, none twice; the rows of `segment` that are out do not
/// matter. A file of that name is replaced in one step. Throws SystemError like OutputFile.
void write_segment_ids(const std::filesystem::path& path, const SegmentEntry& segment,
                       std::span<const std::uint64_t> ids);

/// Returns one id per row. Throws Error with the file and what is wrong: it is missing, truncated,
/// damaged, of another format, version or segment, has another count of rows, or an id twice. Takes
/// twice the memory of the ids, which it sorts.
std::vector<std::uint64_t> read_segment_ids(const std::filesystem::path& path,
                                            const SegmentEntry& segment);

/// Decodes the file's bytes, which came from `source`. Throws what read_segment_ids() throws.
std::vector<std::uint64_t> decode_segment_ids(std::span<const std::byte> bytes,
                                              const SegmentEntry& segment, std::string_view source);

/// Throws Error, naming `source`, unless the bytes begin with the header of the file of ids of the
/// segment with that number. The header has kSegmentIdsHeaderBytes.
inline constexpr std::size_t kSegmentIdsHeaderBytes = 64;
void require_segment_ids_header(std::span<const std::byte> begin, std::uint64_t segment,
                                std::string_view source);

/// Describe the file with these ids, which read_segment_ids() returned: its length, and XXH3-64 of
/// all its bytes.
std::uint64_t segment_ids_bytes(const SegmentEntry& segment);
std::uint64_t segment_ids_checksum(const SegmentEntry& segment, std::span<const std::uint64_t> ids);

}  // namespace farvec::layout
