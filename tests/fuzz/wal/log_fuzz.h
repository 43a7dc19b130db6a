// What the fuzz target and the writer of its seeds agree on.
#pragma once

#include <cstdint>

namespace farvec::fuzz {

/// An input is one byte, and segments of this many bytes; the last may be shorter.
inline constexpr std::uint64_t kFuzzSegmentBytes = 8192;
/// In the first byte: checksums of headers are made right before they are read.
inline constexpr std::uint8_t kSealHeaders = 1;

}  // namespace farvec::fuzz
