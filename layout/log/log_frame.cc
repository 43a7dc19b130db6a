#include "layout/log/log_frame.h"

#include <cstring>

#include "layout/crc32c.h"

namespace farvec::layout {
namespace {

std::uint32_t header_crc(const LogFrameHeader& header, std::uint32_t seed) {
  return crc32c(std::as_bytes(std::span(&header, 1)).first(offsetof(LogFrameHeader, crc)), seed);
}

}  // namespace

std::uint32_t log_frame_seed(std::uint64_t salt) {
  return crc32c(std::as_bytes(std::span(&salt, 1)));
}

void seal_log_frame(LogFrameHeader& header, std::uint32_t seed) {
  header.crc = header_crc(header, seed);
}

std::optional<LogFrameHeader> decode_log_frame(std::span<const std::byte> bytes,
                                               std::uint64_t position, std::uint32_t seed) {
  LogFrameHeader header;
  if (bytes.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const bool sound = header.position == position && header.in_group <= position &&
                     header.crc == header_crc(header, seed);
  return sound ? std::optional(header) : std::nullopt;
}

}  // namespace farvec::layout
