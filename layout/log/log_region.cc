#include "layout/log/log_region.h"

#include <algorithm>
#include <cstring>

#include "layout/crc32c.h"
#include "layout/log/log_segment.h"

namespace farvec::layout {
namespace {

constexpr std::uint64_t kLeastSlotBytes = std::uint64_t{2} << 20;
constexpr std::uint64_t kMostSlotBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kSlotGranule = 4096;

std::uint32_t checksum_of(const LogRegionHeader& header) {
  return crc32c(std::as_bytes(std::span(&header, 1)).first(offsetof(LogRegionHeader, checksum)));
}

bool makes_sense(const LogRegionHeader& header) {
  return header.slots >= kFewestLogSlots && header.slots <= kMostLogSlots &&
         header.slot_bytes >= kLeastSlotBytes && header.slot_bytes <= kMostSlotBytes &&
         header.slot_bytes % kSlotGranule == 0 && header.log_id != 0 && header.needed > 0 &&
         header.needed <= header.copies;
}

}  // namespace

LogRegionBytes encode_log_region(LogRegionHeader header) {
  header.checksum = checksum_of(header);
  LogRegionBytes bytes;
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

std::optional<LogRegionHeader> decode_log_region(std::span<const std::byte> bytes) {
  LogRegionHeader header;
  if (bytes.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const bool sound = header.magic == LogRegionHeader::kMagic &&
                     header.version == kLogRegionVersion &&
                     header.checksum == checksum_of(header) && makes_sense(header);
  return sound ? std::optional(header) : std::nullopt;
}

LogRegionHeader divide_log_region(std::uint64_t region_bytes) {
  LogRegionHeader header;
  const std::uint64_t room =
      region_bytes > kLogRegionHeaderBytes ? region_bytes - kLogRegionHeaderBytes : 0;
  const std::uint64_t share = room / kMostLogSlots / kSlotGranule * kSlotGranule;
  header.slot_bytes = std::clamp(share, kLeastSlotBytes, kMostSlotBytes);
  const std::uint64_t slots = std::min<std::uint64_t>(room / header.slot_bytes, kMostLogSlots);
  header.slots = slots < kFewestLogSlots ? 0 : static_cast<std::uint32_t>(slots);
  return header;
}

}  // namespace farvec::layout
