// This scan handles four columns of 32 neighbours at a time.
#include <immintrin.h>

#include "quantization/kernels/scan_planes.h"

namespace farvec::quantization {
namespace {

/// Sums of 16 neighbours, four columns side by side, in 16-bit lanes: the sums of even neighbours
/// have 256 times the sums of odd ones added to them; the latter are also kept by themselves.
struct Sums {
  __m512i mixed = _mm512_setzero_si512();
  __m512i odd = _mm512_setzero_si512();

  void add(__m512i entries) {
    mixed = _mm512_add_epi16(mixed, entries);
    odd = _mm512_add_epi16(odd, _mm512_srli_epi16(entries, 8));
  }
};

inline __m128i over_columns(__m512i sums) {
  const __m256i half =
      _mm256_add_epi16(_mm512_castsi512_si256(sums), _mm512_extracti64x4_epi64(sums, 1));
  return _mm_add_epi16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

/// The sums of neighbours 0 to 15 in their order.
inline __m512i in_order(const Sums& sums) {
  const __m128i odd = over_columns(sums.odd);
  const __m128i even = _mm_sub_epi16(over_columns(sums.mixed), _mm_slli_epi16(odd, 8));
  return _mm512_cvtepu16_epi32(
      _mm256_set_m128i(_mm_unpackhi_epi16(even, odd), _mm_unpacklo_epi16(even, odd)));
}

struct Totals {
  __m512i low = _mm512_setzero_si512();   ///< neighbours 0 to 15
  __m512i high = _mm512_setzero_si512();  ///< neighbours 16 to 31

  void twice() {
    low = _mm512_add_epi32(low, low);
    high = _mm512_add_epi32(high, high);
  }
  /// Adds `count` columns, at most kSumColumns.
  void add(const std::uint8_t* columns, const std::uint8_t* tables, std::uint32_t count);
};

inline void Totals::add(const std::uint8_t* columns, const std::uint8_t* tables,
                        std::uint32_t count) {
  const __m512i half = _mm512_set1_epi8(15);
  Sums near, far;
  for (std::uint32_t c = 0; c < count; c += ScanShape::kColumnGroup) {
    const __m512i codes = _mm512_loadu_si512(columns + std::size_t{c} * 16);
    const __m512i table = _mm512_load_si512(tables + std::size_t{c} * 16);
    near.add(_mm512_shuffle_epi8(table, _mm512_and_si512(codes, half)));
    far.add(_mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(codes, 4), half)));
  }
  low = _mm512_add_epi32(low, in_order(near));
  high = _mm512_add_epi32(high, in_order(far));
}

inline __m512 factors(const std::uint8_t* values) {
  const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values));
  return _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(words));
}

inline __m512 scaled(float base, float scale, __m512 values) {
  return _mm512_add_ps(_mm512_set1_ps(base), _mm512_mul_ps(_mm512_set1_ps(scale), values));
}

/// `adds` are the add factors of these 16 neighbours.
inline __m512 estimates(const ScanQuery& query, __m512i sums, const std::uint8_t* adds) {
  const __m512 product = _mm512_sub_ps(_mm512_cvtepi32_ps(sums), _mm512_set1_ps(query.bias));
  const __m512 add = factors(adds);
  const __m512 rescale = factors(adds + kScanBlock * sizeof(std::uint16_t));
  return _mm512_sub_ps(
      scaled(query.base, query.add_scale, add),
      _mm512_mul_ps(scaled(query.rescale_base, query.rescale_scale, rescale), product));
}

}  // namespace

std::uint32_t avx512_scan(const ScanShape& shape, const ScanQuery& query, const std::uint8_t* block,
                          float* out) {
  Totals totals;
  const std::uint8_t* const adds = scan_planes(shape, query, block, totals);
  const __m512 low = estimates(query, totals.low, adds);
  const __m512 high = estimates(query, totals.high, adds + 32);
  _mm512_storeu_ps(out, low);
  _mm512_storeu_ps(out + 16, high);
  const __m512 bound = _mm512_set1_ps(query.bound);
  return std::uint32_t{_mm512_cmp_ps_mask(low, bound, _CMP_LT_OQ)} |
         std::uint32_t{_mm512_cmp_ps_mask(high, bound, _CMP_LT_OQ)} << 16;
}

}  // namespace farvec::quantization
