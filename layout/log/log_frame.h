// A log frame is a record in a segment of a log, with a header that says where it is and with which
// records it was written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace farvec::layout {

/// On disk, little-endian; see docs/format.md. The record's bytes follow, then zeros up to a
/// multiple of 8. The header has its own checksum, so that it is known to be a header before its
/// length is trusted, and so that it is found after damaged bytes.
struct LogFrameHeader {
  /// Length of the record's bytes; kLogClosed when this is not a record.
  std::uint32_t length = 0;
  /// Bytes from the first header that was written together with it to this one.
  std::uint32_t in_group = 0;
  std::uint64_t position = 0;   ///< its own position
  std::uint32_t bytes_crc = 0;  ///< CRC-32C of the record's bytes
  std::uint32_t crc = 0;        ///< CRC-32C of the segment's salt and the 20 bytes before

  /// All records before it were durable when this one was written.
  std::uint64_t group_begin() const { return position - in_group; }
};
static_assert(sizeof(LogFrameHeader) == 24);
static_assert(offsetof(LogFrameHeader, position) == 8);
static_assert(offsetof(LogFrameHeader, crc) == 20);

inline constexpr std::size_t kLogFrameAlignment = 8;
/// The length in a header that is not a record: the log was closed here, everything before it is
/// durable.
inline constexpr std::uint32_t kLogClosed = 0xffffffff;

/// Returns the bytes of a record of `length` bytes with its header and padding.
constexpr std::uint64_t log_frame_bytes(std::uint64_t length) {
  return sizeof(LogFrameHeader) +
         (length + kLogFrameAlignment - 1) / kLogFrameAlignment * kLogFrameAlignment;
}

/// Returns the seed of the checksums of a segment's headers.
std::uint32_t log_frame_seed(std::uint64_t salt);

/// Fills in crc, which covers all other fields.
void seal_log_frame(LogFrameHeader& header, std::uint32_t seed);

/// Returns the header at `position`; nothing when the bytes are too few or are not one.
std::optional<LogFrameHeader> decode_log_frame(std::span<const std::byte> bytes,
                                               std::uint64_t position, std::uint32_t seed);

}  // namespace farvec::layout
