// The device of layout_device_directory_fuzz.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory.h"
#include "layout/device/device_directory.h"

namespace farvec::fuzz {

inline constexpr std::uint64_t kDeviceUnits = 64;

/// Gives the first copy the checksum that it has to have: no fuzzer finds that by itself.
inline void mend_checksum(std::span<std::byte> head) {
  constexpr std::size_t kChecksumOffset = 16;
  store_unaligned(head.data() + kChecksumOffset, std::uint64_t{0});
  store_unaligned(head.data() + kChecksumOffset,
                  layout::device_checksum(head.first(layout::kDeviceDirectoryBytes)));
}

}  // namespace farvec::fuzz
