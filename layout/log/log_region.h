// Describes a log in one region of bytes, for example on a memory node: a header, and slots of one
// segment each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace farvec::layout {

inline constexpr std::uint32_t kLogRegionVersion = 1;
/// The first slot comes after this many bytes.
inline constexpr std::uint64_t kLogRegionHeaderBytes = 4096;
inline constexpr std::uint32_t kFewestLogSlots = 8;
inline constexpr std::uint32_t kMostLogSlots = 32;

/// At the beginning of the region, little-endian; see docs/format.md. It is written anew whenever
/// the slots' segments change, so that a reader that follows the log asks for these bytes only. A
/// reader that reads it while it is written sees a checksum that does not match.
struct LogRegionHeader {
  static constexpr std::uint64_t kMagic = 0x4745524c45565246;  // "FRVELREG"

  std::uint64_t magic = kMagic;
  std::uint32_t version = kLogRegionVersion;
  std::uint32_t slots = 0;
  std::uint64_t slot_bytes = 0;
  std::uint64_t log_id = 0;  ///< the same in all segments
  /// Changes of slots and copies; grows, also from one writer to the next.
  std::uint64_t changes = 0;
  std::uint32_t epoch = 0;   ///< epoch of the writer
  std::uint16_t copies = 0;  ///< memory nodes of the log
  std::uint16_t needed = 0;  ///< acknowledged records are on at least this many of them
  std::uint32_t reserved = 0;
  std::uint32_t checksum = 0;  ///< CRC-32C of the 52 bytes before it

  bool operator==(const LogRegionHeader&) const = default;
};
static_assert(sizeof(LogRegionHeader) == 56);
static_assert(offsetof(LogRegionHeader, changes) == 32);
static_assert(offsetof(LogRegionHeader, checksum) == 52);

using LogRegionBytes = std::array<std::byte, sizeof(LogRegionHeader)>;

/// Fills in the checksum and encodes the header.
LogRegionBytes encode_log_region(LogRegionHeader header);

/// Returns nothing when the bytes are not a header: zeros, damaged, or being written.
std::optional<LogRegionHeader> decode_log_region(std::span<const std::byte> bytes);

/// Divides a region of `region_bytes` bytes into the slots of a log: each a multiple of 4096, of 2
/// to 64 MiB. 0 slots where there is no room for kFewestLogSlots.
LogRegionHeader divide_log_region(std::uint64_t region_bytes);

constexpr std::uint64_t log_slot_offset(const LogRegionHeader& header, std::uint32_t slot) {
  return kLogRegionHeaderBytes + slot * header.slot_bytes;
}

}  // namespace farvec::layout
