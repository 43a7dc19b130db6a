#include "layout/log/log_segment.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "layout/crc32c.h"

namespace farvec::layout {
namespace {

std::uint32_t checksum_of(const LogSegmentHeader& header) {
  return crc32c(std::as_bytes(std::span(&header, 1)).first(offsetof(LogSegmentHeader, checksum)));
}

bool is_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

void require_log_version(std::uint32_t version, std::string_view source) {
  if (version == kLogVersion) return;
  throw Error("{} has version {} of the log's format, this farvec reads version {}: use {}", source,
              version, kLogVersion,
              version > kLogVersion ? "the farvec that wrote it, or a newer one"
                                    : "the farvec that wrote it");
}

bool makes_sense(const LogSegmentHeader& header) {
  return header.previous_end <= header.first && header.first < kMaxLogPosition &&
         header.segment_bytes >= kLogHeaderBytes && header.segment_bytes <= kMaxLogSegmentBytes &&
         header.reach <= kMaxLogSegmentBytes;
}

}  // namespace

LogHeaderBlock encode_log_header(LogSegmentHeader header) {
  header.checksum = checksum_of(header);
  LogHeaderBlock block{};
  std::memcpy(block.data(), &header, sizeof(header));
  return block;
}

LogSegmentHeader decode_log_header(std::span<const std::byte> block, std::string_view source) {
  if (block.size() < kLogHeaderBytes) {
    throw Error("{} is truncated: {} bytes cannot hold a log segment's header of {}: restore it",
                source, block.size(), kLogHeaderBytes);
  }
  block = block.first(kLogHeaderBytes);
  LogSegmentHeader header;
  std::memcpy(&header, block.data(), sizeof(header));
  if (header.magic != LogSegmentHeader::kMagic) {
    throw Error("{} is not a segment of a farvec log: it begins with {:#018x}", source,
                header.magic);
  }
  require_log_version(header.version, source);
  if (header.checksum != checksum_of(header) || !is_zero(block.subspan(sizeof(header)))) {
    throw Error("the header of {} is damaged: its checksum does not match; restore it from a copy",
                source);
  }
  if (!makes_sense(header)) {
    throw Error("the header of {} contradicts itself: restore it from a copy", source);
  }
  return header;
}

}  // namespace farvec::layout
