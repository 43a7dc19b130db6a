#include "layout/region/region_header.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace farvec::layout {
namespace {

std::uint64_t checksum_of(const RegionHeader& header) {
  return XXH3_64bits(&header, offsetof(RegionHeader, header_checksum));
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

std::string_view to_string(RegionKind kind) {
  switch (kind) {
    case RegionKind::records_csr:
      return "records.csr";
    case RegionKind::records_padded:
      return "records.padded";
    case RegionKind::codes:
      return "codes";
    case RegionKind::offsets:
      return "offsets";
    case RegionKind::records_coupled:
      return "records.coupled";
    case RegionKind::records_decoupled:
      return "records.decoupled";
    case RegionKind::records_grouped:
      return "records.grouped";
    case RegionKind::records_grouped_inline:
      return "records.grouped-inline";
    case RegionKind::centroids:
      return "centroids";
    case RegionKind::clusters:
      return "clusters";
    case RegionKind::records_slotted:
      return "records.slotted";
    case RegionKind::pages:
      return "pages";
    case RegionKind::vectors:
      return "vectors";
    case RegionKind::entries:
      return "entries";
    case RegionKind::records_inline:
      return "records.inline";
    case RegionKind::records_packed:
      return "records.packed";
    case RegionKind::records_coded:
      return "records.coded";
  }
  return "unknown";
}

std::uint32_t region_id(RegionKind kind) {
  switch (kind) {
    case RegionKind::codes:
    case RegionKind::centroids:
      return 1;
    case RegionKind::offsets:
    case RegionKind::clusters:
    case RegionKind::pages:
      return 2;
    case RegionKind::entries:
      return kEntriesRegion;
    case RegionKind::vectors:
      return kVectorsRegion;
    default:
      return kRecordsRegion;
  }
}

void require_format_version(std::uint64_t version, std::string_view source) {
  if (version == kFormatVersion) return;
  throw Error("{} has format version {}, this farvec reads version {}: {}", source, version,
              kFormatVersion,
              version > kFormatVersion ? "use the farvec that wrote it, or a newer one"
                                       : "rebuild the index from its data set");
}

RegionHeaderBlock encode_region_header(RegionHeader header) {
  header.header_checksum = checksum_of(header);
  RegionHeaderBlock block{};
  std::memcpy(block.data(), &header, sizeof(header));
  return block;
}

RegionHeader decode_region_header(std::span<const std::byte> block, std::string_view source) {
  if (block.size() < kRegionHeaderBytes) {
    throw Error("{} is truncated: {} bytes cannot hold a region header of {}", source, block.size(),
                kRegionHeaderBytes);
  }
  RegionHeader header;
  std::memcpy(&header, block.data(), sizeof(header));
  if (header.magic == 0) {
    throw Error(
        "{} was never published: its header was not written, so its writer did not finish; "
        "rebuild the index",
        source);
  }
  if (header.magic != RegionHeader::kMagic) {
    throw Error("{} is not a farvec region: it begins with {:#018x}", source, header.magic);
  }
  require_format_version(header.format_version, source);
  const auto rest = block.subspan(sizeof(header), kRegionHeaderBytes - sizeof(header));
  if (header.header_checksum != checksum_of(header) || !all_zero(rest)) {
    throw Error(
        "the header of {} is damaged: its checksum does not match; copy it again or rebuild",
        source);
  }
  return header;
}

}  // namespace farvec::layout
