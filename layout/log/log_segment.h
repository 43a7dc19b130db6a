// A log segment header is the first 4096 bytes of a segment of a log. It says where the segment's
// records are and what came before them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace farvec::layout {

/// The version of a log's format: one number for headers and records.
inline constexpr std::uint32_t kLogVersion = 1;
/// The position `first` is at this offset of the file.
inline constexpr std::uint64_t kLogHeaderBytes = 4096;
/// The most bytes of a segment, and of what waits for the disk.
inline constexpr std::uint64_t kMaxLogSegmentBytes = std::uint64_t{1} << 30;
/// Positions stay below it, so that sums of them are positions too.
inline constexpr std::uint64_t kMaxLogPosition = std::uint64_t{1} << 62;

/// On disk or in a slot of a region, little-endian; see docs/format.md. It is durable before the
/// file has its name, and never changes.
struct LogSegmentHeader {
  static constexpr std::uint64_t kMagic = 0x474f4c4345565246;  // "FRVECLOG"

  std::uint64_t magic = kMagic;
  std::uint32_t version = kLogVersion;
  std::uint32_t header_bytes = kLogHeaderBytes;
  std::uint64_t log_id = 0;  ///< random, the same for all segments of a log
  std::uint64_t salt = 0;    ///< random, goes into the checksums of this segment's records
  std::uint64_t number = 0;  ///< number of the segment, without gaps
  std::uint64_t first = 0;   ///< position of the first record
  /// Where the records of the segment before end; all of them are durable.
  std::uint64_t previous_end = 0;
  std::uint64_t segment_bytes = 0;  ///< size of the file, allocated before the file had its name
  /// A position that was given out is at most this far after a durable one.
  std::uint64_t reach = 0;
  /// Epoch of the writer, for a log on memory nodes; 0 in a folder.
  std::uint32_t epoch = 0;
  std::uint32_t checksum = 0;  ///< CRC-32C of the 76 bytes before it
};
static_assert(sizeof(LogSegmentHeader) == 80);
static_assert(offsetof(LogSegmentHeader, log_id) == 16);
static_assert(offsetof(LogSegmentHeader, first) == 40);
static_assert(offsetof(LogSegmentHeader, reach) == 64);
static_assert(offsetof(LogSegmentHeader, checksum) == 76);

using LogHeaderBlock = std::array<std::byte, kLogHeaderBytes>;

/// Fills in the checksum and encodes the header; the rest of the block is zero.
LogHeaderBlock encode_log_header(LogSegmentHeader header);

/// Throws Error, naming `source`, when the block is not a header of this version.
LogSegmentHeader decode_log_header(std::span<const std::byte> block, std::string_view source);

}  // namespace farvec::layout
