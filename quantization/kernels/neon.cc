// This file uses NEON, which every aarch64 has: digits times s8 query values through 16-bit
// products.
#include <arm_neon.h>

#include "quantization/kernels/grouped.h"

namespace farvec::quantization {
namespace {

constexpr std::uint32_t kBlock = 16;

/// Loads the first min(16, available) bytes; the rest is zero.
inline uint8x16_t load_block(const std::uint8_t* p, std::uint32_t available) {
  if (available >= kBlock) return vld1q_u8(p);
  std::uint8_t bytes[kBlock] = {};
  __builtin_memcpy(bytes, p, available);
  return vld1q_u8(bytes);
}

/// Pairs of products; digits up to 15 keep them within 16 bits.
inline int16x8_t pair_products(uint8x16_t digits, int8x16_t values) {
  const int8x16_t d = vreinterpretq_s8_u8(digits);
  return vmlal_high_s8(vmull_s8(vget_low_s8(d), vget_low_s8(values)), d, values);
}

template <int width>
inline int32x4_t add_group(int32x4_t sum, uint8x16_t bytes, int group, int8x16_t values) {
  if constexpr (width == 8) {
    const int32x4_t high = vpaddlq_s16(pair_products(vshrq_n_u8(bytes, 4), values));
    sum = vaddq_s32(sum, vshlq_n_s32(high, 4));
    return vpadalq_s16(sum, pair_products(vandq_u8(bytes, vdupq_n_u8(15)), values));
  } else {
    const auto shift = static_cast<std::int8_t>(-group * width);
    const uint8x16_t shifted = vshlq_u8(bytes, vdupq_n_s8(shift));
    const uint8x16_t digits = vandq_u8(shifted, vdupq_n_u8((1 << width) - 1));
    return vpadalq_s16(sum, pair_products(digits, values));
  }
}

struct Neon {
  using Sum = int32x4_t;

  static Sum zero() { return vdupq_n_s32(0); }

  template <int width>
  static Sum shift(Sum sum) {
    return vshlq_n_s32(sum, width);
  }

  template <int width>
  static void add(const Plane& plane, const RecordGroup& records, const std::int8_t* query,
                  Sum* sums) {
    const std::size_t stride = plane.query_stride();
    for (std::uint32_t done = 0; done < plane.bytes; done += kBlock) {
      uint8x16_t bytes[kGroup];
#pragma GCC unroll 4
      for (std::size_t r = 0; r < kGroup; ++r) {
        bytes[r] = load_block(records.code[r] + plane.offset + done, plane.bytes - done);
      }
#pragma GCC unroll 8
      for (int group = 0; group < 8 / width; ++group) {
        const int8x16_t values = vld1q_s8(query + static_cast<std::size_t>(group) * stride + done);
#pragma GCC unroll 4
        for (std::size_t r = 0; r < kGroup; ++r) {
          sums[r] = add_group<width>(sums[r], bytes[r], group, values);
        }
      }
    }
  }

  static void store(const Sum* sums, std::size_t count, std::int32_t* out) {
    std::int32_t totals[kGroup];
    vst1q_s32(totals, vpaddq_s32(vpaddq_s32(sums[0], sums[1]), vpaddq_s32(sums[2], sums[3])));
    __builtin_memcpy(out, totals, count * sizeof(totals[0]));
  }
};

}  // namespace

DotKernel neon_dot_kernel(const CodeShape& shape) {
  return Grouped<Neon>::kernel(shape.bits);
}

}  // namespace farvec::quantization
