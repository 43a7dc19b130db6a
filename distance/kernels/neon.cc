// This file uses NEON, which every aarch64 has. Tails are copied to a zeroed vector.
#include <arm_neon.h>

#include <cstring>
#include <type_traits>

#include "distance/kernels/table.h"

namespace farvec::distance::kernels {
namespace {

/// Loads four elements of a row from its i-th on as f32, or `left` if that is less: no more is
/// read, and the other lanes are 0.
template <ElementType T>
FARVEC_KERNEL float32x4_t load_floats(const void* row, std::size_t i, std::size_t left) {
  using Bits = std::conditional_t<T == ElementType::f32, std::uint32_t, std::uint16_t>;
  Bits bits[4] = {};
  std::memcpy(bits, static_cast<const char*>(row) + i * sizeof(Bits),
              left < 4 ? left * sizeof(Bits) : sizeof(bits));
  if constexpr (T == ElementType::f32) {
    return vreinterpretq_f32_u32(vld1q_u32(bits));
  } else {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(bits)));
  }
}

template <Metric M>
FARVEC_KERNEL float32x4_t add_term(float32x4_t sum, float32x4_t a, float32x4_t b) {
  if constexpr (M == Metric::l2) {
    const float32x4_t difference = vsubq_f32(a, b);
    return vfmaq_f32(sum, difference, difference);
  } else {
    return vfmaq_f32(sum, a, b);
  }
}

struct FloatLanes {
  float32x4_t s[4] = {vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0)};
};

template <Metric M, ElementType T, std::size_t N>
FARVEC_KERNEL void sum_floats(const void* query, const RowPointers<N>& rows, std::uint32_t d,
                              float32x4_t (&sums)[N]) {
  FloatLanes lanes[N];
  const auto add = [&](std::size_t lane, std::size_t i, std::size_t left)
      __attribute__((always_inline)) {
    const float32x4_t q = load_floats<T>(query, i, left);
    for (std::size_t n = 0; n < N; ++n) {
      lanes[n].s[lane] = add_term<M>(lanes[n].s[lane], q, load_floats<T>(rows[n], i, left));
    }
  };
  std::size_t i = 0;
  for (; i + 16 <= d; i += 16) {
    add(0, i, 4);
    add(1, i + 4, 4);
    add(2, i + 8, 4);
    add(3, i + 12, 4);
  }
  for (; i + 4 <= d; i += 4) add(0, i, 4);
  if (i < d) add(1, i, d - i);
  for (std::size_t n = 0; n < N; ++n) {
    const float32x4_t(&s)[4] = lanes[n].s;
    sums[n] = vaddq_f32(vaddq_f32(s[0], s[1]), vaddq_f32(s[2], s[3]));
  }
}

/// Loads sixteen elements of an 8-bit row, like load_floats().
FARVEC_KERNEL uint8x16_t load_bytes(const void* row, std::size_t i, std::size_t left) {
  std::uint8_t bytes[16] = {};
  std::memcpy(bytes, static_cast<const char*>(row) + i, left < 16 ? left : 16);
  return vld1q_u8(bytes);
}

/// Adds the products of sixteen pairs of bytes in two steps: each product fits 16 bits.
FARVEC_KERNEL uint32x4_t add_products(uint32x4_t sum, uint8x16_t a, uint8x16_t b) {
  sum = vpadalq_u16(sum, vmull_u8(vget_low_u8(a), vget_low_u8(b)));
  return vpadalq_u16(sum, vmull_high_u8(a, b));
}

FARVEC_KERNEL int32x4_t add_products(int32x4_t sum, int8x16_t a, int8x16_t b) {
  sum = vpadalq_s16(sum, vmull_s8(vget_low_s8(a), vget_low_s8(b)));
  return vpadalq_s16(sum, vmull_high_s8(a, b));
}

/// |a - b| is at most 255 for both types: an unsigned byte.
template <Metric M, ElementType T>
FARVEC_KERNEL int32x4_t add_term(int32x4_t sum, uint8x16_t a, uint8x16_t b) {
  const int8x16_t x = vreinterpretq_s8_u8(a);
  const int8x16_t y = vreinterpretq_s8_u8(b);
  const uint32x4_t unsigned_sum = vreinterpretq_u32_s32(sum);
  if constexpr (M != Metric::l2 && T == ElementType::i8) return add_products(sum, x, y);
  if constexpr (M != Metric::l2 && T == ElementType::u8) {
    return vreinterpretq_s32_u32(add_products(unsigned_sum, a, b));
  }
  const uint8x16_t difference =
      T == ElementType::u8 ? vabdq_u8(a, b) : vreinterpretq_u8_s8(vabdq_s8(x, y));
  return vreinterpretq_s32_u32(add_products(unsigned_sum, difference, difference));
}

template <Metric M, ElementType T, std::size_t N>
FARVEC_KERNEL void sum_bytes(const void* query, const RowPointers<N>& rows, std::uint32_t d,
                             int32x4_t (&sums)[N]) {
  for (int32x4_t& sum : sums) sum = vdupq_n_s32(0);
  const auto add = [&](std::size_t i, std::size_t left) __attribute__((always_inline)) {
    const uint8x16_t q = load_bytes(query, i, left);
    for (std::size_t n = 0; n < N; ++n) {
      sums[n] = add_term<M, T>(sums[n], q, load_bytes(rows[n], i, left));
    }
  };
  std::size_t i = 0;
  for (; i + 16 <= d; i += 16) add(i, 16);
  if (i < d) add(i, d - i);
}

template <ElementType T>
FARVEC_KERNEL auto zero_lanes() {
  if constexpr (element_bytes(T) == 1) return vdupq_n_s32(0);
  if constexpr (element_bytes(T) != 1) return vdupq_n_f32(0);
}

struct Ops {
  template <ElementType T>
  using Sum = decltype(zero_lanes<T>());

  template <Metric M, ElementType T, std::size_t N>
  FARVEC_KERNEL void sum(const void* query, const RowPointers<N>& rows, std::uint32_t dimension,
                         Sum<T> (&sums)[N]) {
    if constexpr (element_bytes(T) == 1) {
      sum_bytes<M, T>(query, rows, dimension, sums);
    } else {
      sum_floats<M, T>(query, rows, dimension, sums);
    }
  }
  /// Adds (0+1)+(2+3), like reduce4().
  FARVEC_KERNEL float reduce(float32x4_t sum) {
    const float32x4_t pairs = vpaddq_f32(sum, sum);
    return vgetq_lane_f32(vpaddq_f32(pairs, pairs), 0);
  }
  FARVEC_KERNEL float reduce(int32x4_t sum) { return static_cast<float>(vaddvq_s32(sum)); }
  FARVEC_KERNEL void reduce4(const float32x4_t (&sums)[4], float* out) {
    vst1q_f32(out, vpaddq_f32(vpaddq_f32(sums[0], sums[1]), vpaddq_f32(sums[2], sums[3])));
  }
  FARVEC_KERNEL void reduce4(const int32x4_t (&sums)[4], float* out) {
    const int32x4_t all = vpaddq_s32(vpaddq_s32(sums[0], sums[1]), vpaddq_s32(sums[2], sums[3]));
    vst1q_f32(out, vcvtq_f32_s32(all));
  }
};

void widen_f16(const void* row, std::uint32_t dimension, float* out) {
  for (std::size_t i = 0; i < dimension; i += 4) {
    const std::size_t left = dimension - i;
    const float32x4_t values = load_floats<ElementType::f16>(row, i, left);
    float four[4];
    vst1q_f32(four, values);
    std::memcpy(out + i, four, (left < 4 ? left : 4) * sizeof(float));
  }
}

void narrow_f16(const float* row, std::uint32_t dimension, void* out) {
  for (std::size_t i = 0; i < dimension; i += 4) {
    const std::size_t left = dimension - i;
    const float16x4_t halves = vcvt_f16_f32(load_floats<ElementType::f32>(row, i, left));
    std::uint16_t four[4];
    vst1_u16(four, vreinterpret_u16_f16(halves));
    std::memcpy(static_cast<char*>(out) + i * 2, four, (left < 4 ? left : 4) * 2);
  }
}

}  // namespace

KernelTable neon_table() {
  KernelTable table;
  fill_floats<Ops, 0>(table);
  fill_integers<Ops, 0>(table);
  table.widen_f16 = widen_f16;
  table.narrow_f16 = narrow_f16;
  return table;
}

}  // namespace farvec::distance::kernels
