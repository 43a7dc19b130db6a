// CRC-32C (Castagnoli): the checksum of what is written piece by piece while an index is in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace farvec::layout {

/// Of some bytes followed by `bytes`, when `crc` is the checksum of the former; 0 is that of
/// none. ISA-L's, with the fastest instructions that the processor has.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0);

}  // namespace farvec::layout
