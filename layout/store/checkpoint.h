// The checkpoint file of a page store says where recovery begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "layout/store/page_format.h"

namespace farvec::layout {

inline constexpr std::uint64_t kCheckpointMagic = 0x31504b4356524146;  // "FARVCKP1"
inline constexpr std::uint32_t kStoreVersion = 1;

/// A StoreCheckpoint is the whole file, which is always replaced as a whole.
struct StoreCheckpoint {
  std::uint64_t magic = kCheckpointMagic;
  std::uint32_t version = kStoreVersion;  ///< version of pages, records and this file
  std::uint32_t page_bytes = 0;
  std::uint64_t redo = 0;  ///< position in the log: changes before it are in the pages
  /// Pages with lower numbers have been written, or are in the log after `redo`.
  PageNumber pages = 0;
  std::uint32_t reserved = 0;
  std::uint64_t checksum = 0;  ///< XXH3-64 of all bytes before it
};
static_assert(sizeof(StoreCheckpoint) == 40 && offsetof(StoreCheckpoint, checksum) == 32);

/// Sets the checksum.
void seal_checkpoint(StoreCheckpoint& checkpoint);

/// Throws Error that begins with `name`, when the bytes have another length, magic or version, a
/// wrong checksum, or values that no store has.
StoreCheckpoint decode_checkpoint(std::span<const std::byte> bytes, const char* name);

}  // namespace farvec::layout
