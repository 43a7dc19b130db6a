// This scan handles one column of 32 neighbours at a time.
#include <arm_neon.h>

#include "quantization/kernels/scan_planes.h"

namespace farvec::quantization {
namespace {

/// The sums of 32 neighbours in their order, four in each.
struct Totals {
  uint32x4_t fours[8] = {};

  void twice() {
    for (uint32x4_t& four : fours) four = vaddq_u32(four, four);
  }
  /// Adds `count` columns, at most kSumColumns.
  void add(const std::uint8_t* columns, const std::uint8_t* tables, std::uint32_t count);

  void add(int first, uint16x8_t near, uint16x8_t far) {
    fours[first] = vaddw_u16(fours[first], vget_low_u16(near));
    fours[first + 1] = vaddw_u16(fours[first + 1], vget_high_u16(near));
    fours[first + 2] = vaddw_u16(fours[first + 2], vget_low_u16(far));
    fours[first + 3] = vaddw_u16(fours[first + 3], vget_high_u16(far));
  }
};

inline void Totals::add(const std::uint8_t* columns, const std::uint8_t* tables,
                        std::uint32_t count) {
  uint16x8_t sums[4] = {vdupq_n_u16(0), vdupq_n_u16(0), vdupq_n_u16(0), vdupq_n_u16(0)};
  for (std::uint32_t c = 0; c < count; ++c) {
    const uint8x16_t codes = vld1q_u8(columns + std::size_t{c} * 16);
    const uint8x16_t table = vld1q_u8(tables + std::size_t{c} * 16);
    const uint8x16_t low = vqtbl1q_u8(table, vandq_u8(codes, vdupq_n_u8(15)));
    const uint8x16_t high = vqtbl1q_u8(table, vshrq_n_u8(codes, 4));
    sums[0] = vaddw_u8(sums[0], vget_low_u8(low));
    sums[1] = vaddw_u8(sums[1], vget_high_u8(low));
    sums[2] = vaddw_u8(sums[2], vget_low_u8(high));
    sums[3] = vaddw_u8(sums[3], vget_high_u8(high));
  }
  add(0, sums[0], sums[1]);
  add(4, sums[2], sums[3]);
}

inline float32x4_t factors(const std::uint8_t* values) {
  return vcvtq_f32_u32(vmovl_u16(vreinterpret_u16_u8(vld1_u8(values))));
}

inline float32x4_t scaled(float base, float scale, float32x4_t values) {
  return vaddq_f32(vdupq_n_f32(base), vmulq_n_f32(values, scale));
}

/// `adds` are the add factors of these four neighbours.
inline float32x4_t estimates(const ScanQuery& query, uint32x4_t sums, const std::uint8_t* adds) {
  const float32x4_t product = vsubq_f32(vcvtq_f32_u32(sums), vdupq_n_f32(query.bias));
  const float32x4_t add = factors(adds);
  const float32x4_t rescale = factors(adds + kScanBlock * sizeof(std::uint16_t));
  return vsubq_f32(scaled(query.base, query.add_scale, add),
                   vmulq_f32(scaled(query.rescale_base, query.rescale_scale, rescale), product));
}

}  // namespace

std::uint32_t neon_scan(const ScanShape& shape, const ScanQuery& query, const std::uint8_t* block,
                        float* out) {
  Totals totals;
  const std::uint8_t* const adds = scan_planes(shape, query, block, totals);
  const uint32x4_t bits = {1, 2, 4, 8};
  std::uint32_t below = 0;
  for (int four = 0; four < 8; ++four) {
    const float32x4_t found = estimates(query, totals.fours[four], adds + 8 * four);
    vst1q_f32(out + 4 * four, found);
    const uint32x4_t near = vcltq_f32(found, vdupq_n_f32(query.bound));
    below |= vaddvq_u32(vandq_u32(near, bits)) << (4 * four);
  }
  return below;
}

}  // namespace farvec::quantization
