// The file of a segment's ids: which id of the user's each row has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "layout/collection/collection_manifest.h"

namespace farvec::layout {

/// `ids` by row, as many as the segment has, none twice; the outs of `segment` do not matter.
/// Replaces a file of that name in one step. Throws SystemError as OutputFile does.
void write_segment_ids(const std::filesystem::path& path, const SegmentEntry& segment,
                       std::span<const std::uint64_t> ids);

/// By row. Throws Error with the file and what is wrong: it is missing, truncated, damaged, of
/// another format, version or segment, has another count of rows, or an id twice. Takes twice the
/// memory of the ids, which it sorts.
std::vector<std::uint64_t> read_segment_ids(const std::filesystem::path& path,
                                            const SegmentEntry& segment);

/// The same of the file's bytes, which came from `source`. Throws as read_segment_ids().
std::vector<std::uint64_t> decode_segment_ids(std::span<const std::byte> bytes,
                                              const SegmentEntry& segment, std::string_view source);

/// Throws Error, naming `source`, unless the bytes begin with the header of a file of the ids of
/// the segment of that number. The header has kSegmentIdsHeaderBytes.
inline constexpr std::size_t kSegmentIdsHeaderBytes = 64;
void require_segment_ids_header(std::span<const std::byte> begin, std::uint64_t segment,
                                std::string_view source);

/// Of the file with these ids, as read_segment_ids() returned them: its length, and XXH3-64 of all
/// of it.
std::uint64_t segment_ids_bytes(const SegmentEntry& segment);
std::uint64_t segment_ids_checksum(const SegmentEntry& segment, std::span<const std::uint64_t> ids);

}  // namespace farvec::layout
