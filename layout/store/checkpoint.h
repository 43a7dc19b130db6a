// The checkpoint file of a page store: where recovery begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "layout/store/page_format.h"

namespace farvec::layout {

inline constexpr std::uint64_t kCheckpointMagic = 0x31504b4356524146;  // "FARVCKP1"
inline constexpr std::uint32_t kStoreVersion = 1;

/// The whole file; it is replaced as a whole.
struct StoreCheckpoint {
  std::uint64_t magic = kCheckpointMagic;
  std::uint32_t version = kStoreVersion;  ///< of pages, records and this file
  std::uint32_t page_bytes = 0;
  std::uint64_t redo = 0;  ///< position in the log: changes before it are in the pages
  PageNumber pages = 0;    ///< numbers below it have been written, or are in the log behind it
  std::uint32_t reserved = 0;
  std::uint64_t checksum = 0;  ///< XXH3-64 of all before it
};
static_assert(sizeof(StoreCheckpoint) == 40 && offsetof(StoreCheckpoint, checksum) == 32);

/// Sets the checksum.
void seal_checkpoint(StoreCheckpoint& checkpoint);

/// Throws Error that begins with `name`: of another length, magic or version, a wrong checksum, or
/// values that no store has.
StoreCheckpoint decode_checkpoint(std::span<const std::byte> bytes, const char* name);

}  // namespace farvec::layout
