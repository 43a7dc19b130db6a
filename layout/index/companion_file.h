// A file that lies in the folder of an index and is not the index's own.
#pragma once

#include <cstdint>

namespace farvec::layout {

/// Whoever removes an index knows such a file by its name and its first eight bytes, and removes it
/// too.
struct CompanionFile {
  const char* name;
  std::uint64_t magic;
};

/// The ids of a collection's segment (layout/collection/segment_file.h).
inline constexpr CompanionFile kSegmentIds{"ids.bin", 0x4745534356524146};  // "FARVCSEG"

}  // namespace farvec::layout
