// Defines what avx512.cc and avx512_vpopcntdq.cc of this folder share. Only these two files may
// include it.
#pragma once

#include "distance/kernels/avx512_common.h"
#include "distance/kernels/bits/x86.h"

namespace farvec::distance::kernels {
namespace {

/// The bits that differ and that are set in either vector, counted in lanes of 64 bits. A count is
/// at most kMaxBits, so that the upper half of a lane is 0. Hamming leaves `either` at 0.
struct Counts {
  __m512i differ = _mm512_setzero_si512();
  __m512i either = _mm512_setzero_si512();
};

/// Puts the counts of `odd` into the empty halves of the lanes of `even`.
FARVEC_KERNEL __m512i merged(__m512i even, __m512i odd) {
  return _mm512_mask_shuffle_epi32(even, 0xaaaa, odd, static_cast<_MM_PERM_ENUM>(0xa0));
}

FARVEC_KERNEL __m128i folded(__m512i lanes) {
  const __m256i half =
      _mm256_add_epi32(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64(lanes, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

FARVEC_KERNEL std::uint32_t sum_of(__m512i lanes) {
  const __m128i two = folded(lanes);
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(two) + _mm_extract_epi32(two, 2));
}

FARVEC_KERNEL __m128i sums_of(__m512i a, __m512i b, __m512i c, __m512i d) {
  const __m512i ab = merged(a, b), cd = merged(c, d);
  return folded(_mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd)));
}

FARVEC_KERNEL __m512i quarters(const RowPointers<4>& rows) {
  const auto load = [&](std::size_t n) __attribute__((always_inline)) {
    return _mm_loadu_si128(static_cast<const __m128i*>(rows[n]));
  };
  const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(load(0)), load(1), 1);
  const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(load(2)), load(3), 1);
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

FARVEC_KERNEL __m512i halves(const void* first, const void* second) {
  const __m256i low = _mm256_loadu_si256(static_cast<const __m256i*>(first));
  const __m256i high = _mm256_loadu_si256(static_cast<const __m256i*>(second));
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/// `Counter` lives in an unnamed namespace of its file and has
///   static void count<M>(const void* query, const RowPointers<N>& rows, std::size_t bytes,
///                        Counts (&counts)[N]);
///   static Counts count_of<M>(__m512i a, __m512i b).
template <typename Counter>
struct Avx512Bits {
  template <Metric M>
  FARVEC_KERNEL float one(const void* query, const void* row, std::size_t bytes) {
    Counts counts[1];
    Counter::template count<M>(query, RowPointers<1>{row}, bytes, counts);
    const std::uint32_t either = M == Metric::hamming ? 0 : sum_of(counts[0].either);
    return from_counts<M>(sum_of(counts[0].differ), either);
  }

  template <Metric M>
  FARVEC_KERNEL void four(const void* query, const RowPointers<4>& rows, std::size_t bytes,
                          float* out) {
    if (bytes == 16) return four_of_16<M>(query, rows, out);
    if (bytes == 32) return four_of_32<M>(query, rows, out);
    Counts counts[4];
    Counter::template count<M>(query, rows, bytes, counts);
    const __m128i differ =
        sums_of(counts[0].differ, counts[1].differ, counts[2].differ, counts[3].differ);
    __m128i either = _mm_setzero_si128();
    if constexpr (M == Metric::jaccard) {
      either = sums_of(counts[0].either, counts[1].either, counts[2].either, counts[3].either);
    }
    store_distances<M>(differ, either, out);
  }

 private:
  /// All four rows fit one register.
  template <Metric M>
  FARVEC_KERNEL void four_of_16(const void* query, const RowPointers<4>& rows, float* out) {
    const __m512i q = _mm512_broadcast_i32x4(_mm_loadu_si128(static_cast<const __m128i*>(query)));
    const Counts counts = Counter::template count_of<M>(q, quarters(rows));
    const auto sums = [](__m512i lanes) __attribute__((always_inline)) {
      const __m512i both = _mm512_add_epi64(lanes, _mm512_unpackhi_epi64(lanes, lanes));
      const __m512i firsts = _mm512_setr_epi32(0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
      return _mm512_castsi512_si128(_mm512_permutexvar_epi32(firsts, both));
    };
    store_distances<M>(sums(counts.differ), sums(counts.either), out);
  }

  /// Two rows share a register.
  template <Metric M>
  FARVEC_KERNEL void four_of_32(const void* query, const RowPointers<4>& rows, float* out) {
    const __m512i q =
        _mm512_broadcast_i64x4(_mm256_loadu_si256(static_cast<const __m256i*>(query)));
    const Counts even = Counter::template count_of<M>(q, halves(rows[0], rows[2]));
    const Counts odd = Counter::template count_of<M>(q, halves(rows[1], rows[3]));
    const auto sums = [](__m512i a, __m512i b) __attribute__((always_inline)) {
      // Each half of 256 bits has the counts of two rows in turn.
      const __m512i ab = merged(a, b);
      const __m512i pairs = _mm512_add_epi32(ab, _mm512_unpackhi_epi64(ab, ab));
      const __m512i firsts = _mm512_setr_epi64(0, 4, 0, 4, 0, 4, 0, 4);
      const __m512i seconds = _mm512_setr_epi64(2, 6, 2, 6, 2, 6, 2, 6);
      return _mm_add_epi32(_mm512_castsi512_si128(_mm512_permutexvar_epi64(firsts, pairs)),
                           _mm512_castsi512_si128(_mm512_permutexvar_epi64(seconds, pairs)));
    };
    store_distances<M>(sums(even.differ, odd.differ), sums(even.either, odd.either), out);
  }
};

}  // namespace
}  // namespace farvec::distance::kernels
