// This file uses AVX2: u8 digits times s8 query values through 16-bit pairs, four records at a
// time.
#include <immintrin.h>

#include "quantization/kernels/grouped.h"
#include "quantization/kernels/single.h"

namespace farvec::quantization {
namespace {

constexpr std::uint32_t kBlock = 32;

/// Loads the first min(32, available) bytes; the rest is zero.
inline __m256i load_block(const std::uint8_t* p, std::uint32_t available) {
  if (available >= kBlock) return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  // Planes are whole 32-bit words.
  const __m256i lane = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
  const __m256i words = _mm256_set1_epi32(static_cast<int>(available / 4));
  return _mm256_maskload_epi32(reinterpret_cast<const int*>(p), _mm256_cmpgt_epi32(words, lane));
}

/// Sums of four neighbouring products. Digits up to 15 keep the pairs within 16 bits.
inline __m256i quad_products(__m256i digits, __m256i values) {
  return _mm256_madd_epi16(_mm256_maddubs_epi16(digits, values), _mm256_set1_epi16(1));
}

template <int width>
inline __m256i group_products(__m256i bytes, int group, __m256i values) {
  const __m256i low = _mm256_set1_epi8(15);
  if constexpr (width == 8) {
    const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low);
    return _mm256_add_epi32(quad_products(_mm256_and_si256(bytes, low), values),
                            _mm256_slli_epi32(quad_products(high, values), 4));
  } else {
    const __m256i shifted = _mm256_srl_epi16(bytes, _mm_cvtsi32_si128(group * width));
    return quad_products(_mm256_and_si256(shifted, _mm256_set1_epi8((1 << width) - 1)), values);
  }
}

/// Adds up the 8 lanes of each of four registers.
inline __m128i lane_totals(const __m256i* s) {
  const __m256i abcd =
      _mm256_hadd_epi32(_mm256_hadd_epi32(s[0], s[1]), _mm256_hadd_epi32(s[2], s[3]));
  return _mm_add_epi32(_mm256_castsi256_si128(abcd), _mm256_extracti128_si256(abcd, 1));
}

struct Avx2 {
  using Sum = __m256i;

  static Sum zero() { return _mm256_setzero_si256(); }

  template <int width>
  static Sum shift(Sum sum) {
    return _mm256_slli_epi32(sum, width);
  }

  template <int width>
  static void add(const Plane& plane, const RecordGroup& records, const std::int8_t* query,
                  Sum* sums) {
    const std::size_t stride = plane.query_stride();
    for (std::uint32_t done = 0; done < plane.bytes; done += kBlock) {
      __m256i bytes[kGroup];
#pragma GCC unroll 4
      for (std::size_t r = 0; r < kGroup; ++r) {
        bytes[r] = load_block(records.code[r] + plane.offset + done, plane.bytes - done);
      }
#pragma GCC unroll 8
      for (int group = 0; group < 8 / width; ++group) {
        // A stride of 16 reads into the next group (or the query's padding) where `bytes` is zero.
        const __m256i values =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(query + group * stride + done));
#pragma GCC unroll 4
        for (std::size_t r = 0; r < kGroup; ++r) {
          sums[r] = _mm256_add_epi32(sums[r], group_products<width>(bytes[r], group, values));
        }
      }
    }
  }

  static void store(const Sum* sums, std::size_t count, std::int32_t* out) {
    alignas(16) std::int32_t totals[kGroup];
    _mm_store_si128(reinterpret_cast<__m128i*>(totals), lane_totals(sums));
    __builtin_memcpy(out, totals, count * sizeof(totals[0]));
  }
};

/// Adds the products of one plane with one level of the query to the sums of the planes before.
template <int width>
inline __m256i append_single(const Plane& plane, const std::uint8_t* code, const std::int8_t* query,
                             __m256i sum) {
  const std::size_t stride = plane.query_stride();
  sum = _mm256_slli_epi32(sum, width);
  for (std::uint32_t done = 0; done < plane.bytes; done += kBlock) {
    const __m256i bytes = load_block(code + done, plane.bytes - done);
#pragma GCC unroll 8
    for (int group = 0; group < 8 / width; ++group) {
      const __m256i values =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(query + group * stride + done));
      sum = _mm256_add_epi32(sum, group_products<width>(bytes, group, values));
    }
  }
  return sum;
}

inline std::int32_t single_level(const CodeShape& shape, const std::uint8_t* code,
                                 const std::int8_t* query) {
  __m256i sum = _mm256_setzero_si256();
  for (std::uint32_t p = 0; p < shape.plane_count; ++p) {
    const Plane& plane = shape.planes[p];
    const std::uint8_t* bytes = code + plane.offset;
    if (plane.width == 8) sum = append_single<8>(plane, bytes, query, sum);
    if (plane.width == 4) sum = append_single<4>(plane, bytes, query, sum);
    if (plane.width == 2) sum = append_single<2>(plane, bytes, query, sum);
    if (plane.width == 1) sum = append_single<1>(plane, bytes, query, sum);
    query += plane.query_bytes();
  }
  const __m256i sums[kGroup] = {sum, sum, sum, sum};
  return _mm_cvtsi128_si32(lane_totals(sums));
}

}  // namespace

DotPair avx2_single_dot(const CodeShape& shape, const SingleDot& dot) {
  return {single_level(shape, dot.code, dot.coarse),
          dot.fine == nullptr ? 0 : single_level(shape, dot.code, dot.fine)};
}

DotKernel avx2_dot_kernel(const CodeShape& shape) {
  return Grouped<Avx2>::kernel(shape.bits);
}

}  // namespace farvec::quantization
