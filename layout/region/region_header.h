// A region header is the first 4096 bytes of every region. It is written last: a region without it
// is not published.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "layout/region/region_bytes.h"

namespace farvec::layout {

/// The version of the format: one number for the manifest, the region headers and all payloads.
inline constexpr std::uint32_t kFormatVersion = 1;

enum class RegionKind : std::uint32_t {
  records_csr = 1,
  records_padded = 2,
  codes = 3,
  offsets = 4,
  records_coupled = 5,
  records_decoupled = 6,
  records_grouped = 7,
  records_grouped_inline = 8,
  centroids = 9,
  clusters = 10,
  records_slotted = 11,
  pages = 12,
  vectors = 13,
  entries = 14,
  records_inline = 15,
  records_packed = 16,
  records_coded = 17
};
inline constexpr std::uint32_t kRegionKinds = 17;

/// The numbers under which a memory node serves the regions of an index. First what searches read,
/// then what a compute node keeps in its own DRAM: a graph's codes and offsets, or the centroids
/// and the table of clusters.
inline constexpr std::uint32_t kRecordsRegion = 0;
inline constexpr std::uint32_t kCodesRegion = 1;
inline constexpr std::uint32_t kOffsetsRegion = 2;
inline constexpr std::uint32_t kCentroidsRegion = 1;
inline constexpr std::uint32_t kClustersRegion = 2;
inline constexpr std::uint32_t kRegionCount = 3;
/// Where memory nodes serve the second copy of an index's vectors, if it has one.
inline constexpr std::uint32_t kSecondCopyRegion = kRegionCount;
/// The regions that only a slotted index has: the page of every vertex, the graph that finds where
/// searches start, and the vectors when searches re-rank by them. No memory node serves a slotted
/// index.
inline constexpr std::uint32_t kPagesRegion = 2;
inline constexpr std::uint32_t kEntriesRegion = 3;
inline constexpr std::uint32_t kVectorsRegion = 4;

std::string_view to_string(RegionKind kind);
std::uint32_t region_id(RegionKind kind);

/// On disk and in a backing; little-endian; see docs/format.md.
struct RegionHeader {
  static constexpr std::uint64_t kMagic = 0x4752434556524146;  // "FARVECRG"

  std::uint64_t magic = kMagic;
  std::uint32_t format_version = kFormatVersion;
  std::uint32_t header_bytes = kRegionHeaderBytes;
  RegionKind kind = RegionKind::records_csr;
  std::uint32_t region = kRecordsRegion;
  std::uint64_t payload_bytes = 0;
  std::uint64_t chunk_bytes = 0;       ///< chunk size of the manifest's checksums
  std::uint64_t payload_checksum = 0;  ///< XXH3-64 of the chunks' checksums, in order
  std::uint64_t reserved = 0;
  std::uint64_t header_checksum = 0;  ///< XXH3-64 of the 56 bytes before it
};
static_assert(sizeof(RegionHeader) == 64);
static_assert(offsetof(RegionHeader, kind) == 16);
static_assert(offsetof(RegionHeader, payload_bytes) == 24);
static_assert(offsetof(RegionHeader, header_checksum) == 56);

using RegionHeaderBlock = std::array<std::byte, kRegionHeaderBytes>;

/// Fills in header_checksum and encodes the header; the rest of the block is zero.
RegionHeaderBlock encode_region_header(RegionHeader header);

/// Throws Error, naming `source`, when the block is not a published header of this version.
RegionHeader decode_region_header(std::span<const std::byte> block, std::string_view source);

/// Throws Error saying which format the bytes have and what to do, unless it is this one.
void require_format_version(std::uint64_t version, std::string_view source);

}  // namespace farvec::layout
