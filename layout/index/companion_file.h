// A CompanionFile is in the folder of an index but is not part of the index.
#pragma once

#include <cstdint>

namespace farvec::layout {

/// Code that removes an index recognises such a file by its name and its first eight bytes, and
/// removes it too.
struct CompanionFile {
  const char* name;
  std::uint64_t magic;
};

/// The ids of a collection's segment (layout/collection/segment_file.h).
inline constexpr CompanionFile kSegmentIds{"ids.bin", 0x4745534356524146};  // "FARVCSEG"

}  // namespace farvec::layout
