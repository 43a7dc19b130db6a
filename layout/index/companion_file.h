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

/// The attributes of its rows (layout/collection/segment_attributes.h).
inline constexpr CompanionFile kSegmentAttributes{"attributes.bin",
                                                  0x5454414356524146};  // "FARVCATT"

/// The schema of an index that stands by itself and has attributes
/// (layout/collection/index_attributes.h).
inline constexpr CompanionFile kIndexSchema{"schema.bin", 0x4843534356524146};  // "FARVCSCH"

/// The vectors by which searches rank their candidates again (layout/index/second_copy.h).
inline constexpr CompanionFile kSecondCopy{"second.bin", 0x4345534356524146};  // "FARVCSEC"

}  // namespace farvec::layout
