#include "layout/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace farvec::layout {
namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // ISA-L counts in int

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc) {
  std::uint32_t remainder = ~crc;
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), kMostAtOnce));
    // ISA-L does not change the bytes, but its pointer is not const.
    auto* const data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(part.data()));
    remainder = crc32_iscsi(data, static_cast<int>(part.size()), remainder);
    bytes = bytes.subspan(part.size());
  }
  return ~remainder;
}

}  // namespace farvec::layout
