// Converts IEEE 754 binary16, one value at a time, without processor support. The bits are those of
// F16C.
#pragma once

#include <bit>
#include <cstdint>

namespace farvec::distance {

inline float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7fffu;
  if (magnitude < 0x0400u) {  // zero or subnormal: a multiple of 2^-24, exact in f32
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
  }
  if (magnitude < 0x7c00u) return std::bit_cast<float>(((magnitude << 13) + 0x38000000u) | sign);
  const std::uint32_t quiet = magnitude > 0x7c00u ? 0x00400000u : 0u;
  return std::bit_cast<float>((magnitude << 13) | 0x7f800000u | quiet | sign);
}

/// Rounds to nearest even; overflow gives infinity; NaN stays (quiet) NaN.
inline std::uint16_t float_to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t half;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u | ((magnitude >> 13) & 0x03ffu);
  } else if (magnitude >= 0x477ff000u) {  // 65520, half way from the largest half to 2^16
    half = 0x7c00u;
  } else if (magnitude < 0x38800000u) {  // below 2^-14: the adder rounds at 0.5's last bit, 2^-24
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    half = std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u;
  } else {
    half = (magnitude - 0x38000000u + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;
  }
  return static_cast<std::uint16_t>(half | sign);
}

}  // namespace farvec::distance
