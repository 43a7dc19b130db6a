// A CodeShape says where the bits of a code record are. The byte-exact description is in
// docs/understand/quantization.md.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/memory.h"

namespace farvec::quantization {

/// A plane holds `width` bits of every dimension. Byte j, bits [g * width, (g + 1) * width) belong
/// to dimension g * bytes + j, so that one shift and one mask bring a whole group g of consecutive
/// dimensions to the bottom of its bytes.
struct Plane {
  std::uint32_t width = 0;   ///< 1, 2, 4 or 8
  std::uint32_t offset = 0;  ///< counts from the start of the record
  std::uint32_t bytes = 0;   ///< a multiple of 4

  std::uint32_t groups() const { return 8 / width; }
  std::uint32_t mask() const { return (1u << width) - 1; }
  /// Returns the distance in bytes between the groups of the query's mirror of this plane. Short
  /// planes are packed so that one 64-byte load covers two or four groups.
  std::uint32_t query_stride() const {
    return bytes <= 16 ? 16 : bytes <= 32 ? 32 : static_cast<std::uint32_t>(round_up(bytes, 64));
  }
  /// Returns the bytes in whole cache lines, with room for a 32-byte load of a last group of 16
  /// bytes.
  std::uint32_t query_bytes() const {
    return static_cast<std::uint32_t>(round_up(std::size_t{groups()} * query_stride() + 16, 64));
  }
};

/// The planes of a code are the binary digits of its bits per dimension, widest and most
/// significant first (7 = 4 + 2 + 1), followed by one 32-bit word of factors.
struct CodeShape {
  std::uint32_t dimension = 0;
  std::uint32_t bits = 0;
  std::array<Plane, 3> planes{};
  std::uint32_t plane_count = 0;
  std::uint32_t code_bytes = 0;
  std::uint32_t padded_bytes = 0;  ///< bytes of a record; kept because every estimate needs it

  CodeShape() = default;
  constexpr CodeShape(std::uint32_t dimension_, std::uint32_t bits_)
      : dimension(dimension_), bits(bits_) {
    for (std::uint32_t width = 8; width > 0; width /= 2) {
      if ((bits & width) == 0) continue;
      const auto bytes = static_cast<std::uint32_t>(round_up((dimension * width + 7) / 8, 4));
      planes[plane_count++] = {width, code_bytes, bytes};
      code_bytes += bytes;
    }
    const auto bytes = static_cast<std::uint32_t>(code_bytes + sizeof(std::uint32_t));
    const std::uint32_t padded = std::bit_ceil(bytes);
    padded_bytes = padded <= kCacheLineBytes && 3 * padded <= 4 * bytes ? padded : bytes;
  }

  /// Returns the bytes of a record, padded so that no record crosses a cache line, where that costs
  /// at most a third.
  constexpr std::size_t record_bytes() const { return padded_bytes; }
  std::uint32_t query_bytes() const {
    std::uint32_t total = 0;
    for (std::uint32_t p = 0; p < plane_count; ++p) total += planes[p].query_bytes();
    return total;
  }
};

}  // namespace farvec::quantization
