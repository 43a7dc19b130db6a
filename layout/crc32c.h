// Computes CRC-32C (Castagnoli), the checksum of what is written piece by piece while an index is
// in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace farvec::layout {

/// Returns the checksum of some bytes followed by `bytes`, where `crc` is the checksum of the first
/// bytes; 0 is the checksum of no bytes. It is ISA-L's, with the fastest instructions that the
/// processor has.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0);

}  // namespace farvec::layout
