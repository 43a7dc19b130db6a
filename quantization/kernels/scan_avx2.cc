// This scan handles two columns of 32 neighbours at a time.
#include <immintrin.h>

#include "quantization/kernels/scan_planes.h"

namespace farvec::quantization {
namespace {

/// Sums of 16 neighbours, two columns side by side, in 16-bit lanes: the sums of even neighbours
/// have 256 times the sums of odd ones added to them; the latter are also kept by themselves.
struct Sums {
  __m256i mixed = _mm256_setzero_si256();
  __m256i odd = _mm256_setzero_si256();

  void add(__m256i entries) {
    mixed = _mm256_add_epi16(mixed, entries);
    odd = _mm256_add_epi16(odd, _mm256_srli_epi16(entries, 8));
  }
};

inline __m128i over_columns(__m256i sums) {
  return _mm_add_epi16(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
}

/// The sums of 32 neighbours in their order, eight in each.
struct Totals {
  __m256i eights[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                       _mm256_setzero_si256()};

  void twice() {
    for (__m256i& eight : eights) eight = _mm256_add_epi32(eight, eight);
  }
  /// Adds `count` columns, at most kSumColumns.
  void add(const std::uint8_t* columns, const std::uint8_t* tables, std::uint32_t count);

  void add(const Sums& sums, int first) {
    const __m128i odd = over_columns(sums.odd);
    const __m128i even = _mm_sub_epi16(over_columns(sums.mixed), _mm_slli_epi16(odd, 8));
    const __m128i near = _mm_unpacklo_epi16(even, odd);
    const __m128i far = _mm_unpackhi_epi16(even, odd);
    eights[first] = _mm256_add_epi32(eights[first], _mm256_cvtepu16_epi32(near));
    eights[first + 1] = _mm256_add_epi32(eights[first + 1], _mm256_cvtepu16_epi32(far));
  }
};

inline void Totals::add(const std::uint8_t* columns, const std::uint8_t* tables,
                        std::uint32_t count) {
  const __m256i half = _mm256_set1_epi8(15);
  Sums low, high;
  for (std::uint32_t c = 0; c < count; c += 2) {
    const std::size_t at = std::size_t{c} * 16;
    const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(columns + at));
    const __m256i table = _mm256_load_si256(reinterpret_cast<const __m256i*>(tables + at));
    low.add(_mm256_shuffle_epi8(table, _mm256_and_si256(codes, half)));
    high.add(_mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(codes, 4), half)));
  }
  add(low, 0);
  add(high, 2);
}

inline __m256 factors(const std::uint8_t* values) {
  const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(values));
  return _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(words));
}

inline __m256 scaled(float base, float scale, __m256 values) {
  return _mm256_add_ps(_mm256_set1_ps(base), _mm256_mul_ps(_mm256_set1_ps(scale), values));
}

/// `adds` are the add factors of these eight neighbours.
inline __m256 estimates(const ScanQuery& query, __m256i sums, const std::uint8_t* adds) {
  const __m256 product = _mm256_sub_ps(_mm256_cvtepi32_ps(sums), _mm256_set1_ps(query.bias));
  const __m256 add = factors(adds);
  const __m256 rescale = factors(adds + kScanBlock * sizeof(std::uint16_t));
  return _mm256_sub_ps(
      scaled(query.base, query.add_scale, add),
      _mm256_mul_ps(scaled(query.rescale_base, query.rescale_scale, rescale), product));
}

}  // namespace

std::uint32_t avx2_scan(const ScanShape& shape, const ScanQuery& query, const std::uint8_t* block,
                        float* out) {
  Totals totals;
  const std::uint8_t* const adds = scan_planes(shape, query, block, totals);
  const __m256 bound = _mm256_set1_ps(query.bound);
  std::uint32_t below = 0;
  for (int eight = 0; eight < 4; ++eight) {
    const __m256 found = estimates(query, totals.eights[eight], adds + 16 * eight);
    _mm256_storeu_ps(out + 8 * eight, found);
    const int bits = _mm256_movemask_ps(_mm256_cmp_ps(found, bound, _CMP_LT_OQ));
    below |= static_cast<std::uint32_t>(bits) << (8 * eight);
  }
  return below;
}

}  // namespace farvec::quantization
