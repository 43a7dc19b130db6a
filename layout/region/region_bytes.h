// Defines what all regions have in common.
#pragma once

#include <cstdint>

namespace farvec::layout {

/// Every region begins with this many bytes of header; the payload follows. All offsets count from
/// the start of the region, so that they are right in the file, in the backing and on the wire.
inline constexpr std::uint64_t kRegionHeaderBytes = 4096;

}  // namespace farvec::layout
