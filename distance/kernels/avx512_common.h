// Defines what avx512.cc and avx512_vnni.cc share. Only these two files may include it.
#pragma once

#include <immintrin.h>

#include "distance/kernels/table.h"

namespace farvec::distance::kernels {
namespace {

/// Adds lanes in one order, the same as in reduce4(): within 128 bits (0+2)+(1+3), then halves.
FARVEC_KERNEL float reduce_lanes(__m512 sum) {
  sum = _mm512_add_ps(sum, _mm512_permute_ps(sum, 0x4e));
  sum = _mm512_add_ps(sum, _mm512_permute_ps(sum, 0xb1));
  const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(sum), _mm512_extractf32x8_ps(sum, 1));
  return _mm_cvtss_f32(_mm_add_ss(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
}

FARVEC_KERNEL float reduce_lanes(__m512i sum) {
  const __m256i half =
      _mm256_add_epi32(_mm512_castsi512_si256(sum), _mm512_extracti32x8_epi32(sum, 1));
  __m128i q = _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  q = _mm_add_epi32(q, _mm_shuffle_epi32(q, 0x4e));
  q = _mm_add_epi32(q, _mm_shuffle_epi32(q, 0xb1));
  return static_cast<float>(_mm_cvtsi128_si32(q));
}

FARVEC_KERNEL __m512 add_pairs(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
}

FARVEC_KERNEL __m512i add_pairs(__m512i a, __m512i b) {
  return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
}

FARVEC_KERNEL void reduce_lanes4(const __m512 (&sums)[4], float* out) {
  const __m512d ab = _mm512_castps_pd(add_pairs(sums[0], sums[1]));
  const __m512d cd = _mm512_castps_pd(add_pairs(sums[2], sums[3]));
  const __m512 abcd = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd)),
                                    _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)));
  const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(abcd), _mm512_extractf32x8_ps(abcd, 1));
  _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
}

FARVEC_KERNEL void reduce_lanes4(const __m512i (&sums)[4], float* out) {
  const __m512i ab = add_pairs(sums[0], sums[1]);
  const __m512i cd = add_pairs(sums[2], sums[3]);
  const __m512i abcd =
      _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
  const __m256i half =
      _mm256_add_epi32(_mm512_castsi512_si256(abcd), _mm512_extracti32x8_epi32(abcd, 1));
  _mm_storeu_ps(out, _mm_cvtepi32_ps(_mm_add_epi32(_mm256_castsi256_si128(half),
                                                   _mm256_extracti128_si256(half, 1))));
}

/// Loads 64 elements of an 8-bit row from its i-th on, or `left` if that is less: no more is read,
/// and the other lanes are 0.
FARVEC_KERNEL __m512i load_bytes(const void* row, std::size_t i, std::size_t left) {
  const char* address = static_cast<const char*>(row) + i;
  if (left >= 64) return _mm512_loadu_si512(address);
  return _mm512_maskz_loadu_epi8((std::uint64_t{1} << left) - 1, address);
}

/// Computes |a - b| of each element, as unsigned bytes: it is at most 255 for both types.
template <ElementType T>
FARVEC_KERNEL __m512i absolute_difference(__m512i a, __m512i b) {
  if constexpr (T == ElementType::u8) {
    return _mm512_sub_epi8(_mm512_max_epu8(a, b), _mm512_min_epu8(a, b));
  } else {
    return _mm512_sub_epi8(_mm512_max_epi8(a, b), _mm512_min_epi8(a, b));
  }
}

}  // namespace
}  // namespace farvec::distance::kernels
