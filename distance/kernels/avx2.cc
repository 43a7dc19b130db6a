// This file uses AVX2 with FMA and F16C.
#include <immintrin.h>

#include <cstring>

#include "distance/kernels/table.h"

namespace farvec::distance::kernels {
namespace {

/// Loads elements [i, i + 8) as f32. A tail is read as the row's last eight elements, with those
/// before `i` masked to 0, or byte by byte when the row is shorter than eight.
template <ElementType T>
FARVEC_KERNEL __m256 load_floats(const void* row, std::size_t i) {
  const char* address = static_cast<const char*>(row) + i * element_bytes(T);
  if constexpr (T == ElementType::f32) {
    return _mm256_loadu_ps(reinterpret_cast<const float*>(address));
  } else {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(address)));
  }
}

/// All bits set in the last `count` of eight 32-bit lanes.
FARVEC_KERNEL __m256 last_lanes(std::uint32_t count) {
  const __m256i index = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
  return _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), index));
}

template <ElementType T>
FARVEC_KERNEL __m256 load_float_tail(const void* row, std::size_t i, std::uint32_t d) {
  if (d >= 8) return _mm256_and_ps(load_floats<T>(row, d - 8), last_lanes(d - i));
  char copy[32] = {};
  std::memcpy(copy, row, d * element_bytes(T));
  return load_floats<T>(copy, 0);
}

template <Metric M>
FARVEC_KERNEL __m256 add_term(__m256 sum, __m256 a, __m256 b) {
  if constexpr (M == Metric::l2) {
    const __m256 difference = _mm256_sub_ps(a, b);
    return _mm256_fmadd_ps(difference, difference, sum);
  } else {
    return _mm256_fmadd_ps(a, b, sum);
  }
}

/// The sums of one row. Set member by member, because GCC turns a loop into a call of memset.
struct FloatLanes {
  __m256 s[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                 _mm256_setzero_ps()};
};

template <Metric M, ElementType T, std::size_t N>
FARVEC_KERNEL void sum_floats(const void* query, const RowPointers<N>& rows, std::uint32_t d,
                              __m256 (&sums)[N]) {
  FloatLanes lanes[N];
  const auto add = [&](std::size_t lane, std::size_t i) __attribute__((always_inline)) {
    const __m256 q = load_floats<T>(query, i);
    for (std::size_t n = 0; n < N; ++n) {
      lanes[n].s[lane] = add_term<M>(lanes[n].s[lane], q, load_floats<T>(rows[n], i));
    }
  };
  std::size_t i = 0;
  for (; i + 32 <= d; i += 32) {
    add(0, i);
    add(1, i + 8);
    add(2, i + 16);
    add(3, i + 24);
  }
  for (; i + 8 <= d; i += 8) add(0, i);
  if (i < d) {
    const __m256 q = load_float_tail<T>(query, i, d);
    for (std::size_t n = 0; n < N; ++n) {
      lanes[n].s[1] = add_term<M>(lanes[n].s[1], q, load_float_tail<T>(rows[n], i, d));
    }
  }
  for (std::size_t n = 0; n < N; ++n) {
    const __m256(&s)[4] = lanes[n].s;
    sums[n] = _mm256_add_ps(_mm256_add_ps(s[0], s[1]), _mm256_add_ps(s[2], s[3]));
  }
}

/// Loads sixteen 8-bit elements as 16-bit numbers.
template <ElementType T>
FARVEC_KERNEL __m256i load_shorts(const void* row, std::size_t i) {
  const auto* address = reinterpret_cast<const __m128i*>(static_cast<const char*>(row) + i);
  const __m128i bytes = _mm_loadu_si128(address);
  return T == ElementType::u8 ? _mm256_cvtepu8_epi16(bytes) : _mm256_cvtepi8_epi16(bytes);
}

/// Loads the last d - i elements, like load_float_tail().
template <ElementType T>
FARVEC_KERNEL __m256i load_short_tail(const void* row, std::size_t i, std::uint32_t d) {
  if (d >= 16) {
    const __m256i index = _mm256_setr_epi16(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m256i wanted = _mm256_cmpgt_epi16(_mm256_set1_epi16(static_cast<short>(d - i)), index);
    return _mm256_and_si256(load_shorts<T>(row, d - 16), wanted);
  }
  char copy[16] = {};
  std::memcpy(copy, row, d);
  return load_shorts<T>(copy, 0);
}

template <Metric M>
FARVEC_KERNEL __m256i add_term(__m256i sum, __m256i a, __m256i b) {
  if constexpr (M == Metric::l2) {
    const __m256i difference = _mm256_sub_epi16(a, b);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(difference, difference));
  } else {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
  }
}

template <Metric M, ElementType T, std::size_t N>
FARVEC_KERNEL void sum_bytes(const void* query, const RowPointers<N>& rows, std::uint32_t d,
                             __m256i (&sums)[N]) {
  __m256i even[N], odd[N];
  for (std::size_t n = 0; n < N; ++n) even[n] = odd[n] = _mm256_setzero_si256();
  const auto add = [&](__m256i(&lanes)[N], std::size_t i) __attribute__((always_inline)) {
    const __m256i q = load_shorts<T>(query, i);
    for (std::size_t n = 0; n < N; ++n) {
      lanes[n] = add_term<M>(lanes[n], q, load_shorts<T>(rows[n], i));
    }
  };
  std::size_t i = 0;
  for (; i + 32 <= d; i += 32) {
    add(even, i);
    add(odd, i + 16);
  }
  if (i + 16 <= d) {
    add(even, i);
    i += 16;
  }
  if (i < d) {
    const __m256i q = load_short_tail<T>(query, i, d);
    for (std::size_t n = 0; n < N; ++n) {
      odd[n] = add_term<M>(odd[n], q, load_short_tail<T>(rows[n], i, d));
    }
  }
  for (std::size_t n = 0; n < N; ++n) sums[n] = _mm256_add_epi32(even[n], odd[n]);
}

/// Loads 32 bytes.
FARVEC_KERNEL __m256i load_bytes(const void* row, std::size_t i) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(static_cast<const char*>(row) + i));
}

/// Adds the terms of 32 elements. They are small, so that two products fit 16 bits.
template <Metric M>
FARVEC_KERNEL __m256i add_small_terms(__m256i sum, __m256i a, __m256i b) {
  __m256i pairs;
  if constexpr (M == Metric::l2) {
    const __m256i difference = _mm256_abs_epi8(_mm256_sub_epi8(a, b));
    pairs = _mm256_maddubs_epi16(difference, difference);
  } else {
    pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(a), _mm256_sign_epi8(b, a));
  }
  return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

template <Metric M, ElementType T, std::size_t N>
FARVEC_KERNEL void sum_small_bytes(const void* query, const RowPointers<N>& rows, std::uint32_t d,
                                   __m256i (&sums)[N]) {
  for (std::size_t n = 0; n < N; ++n) sums[n] = _mm256_setzero_si256();
  std::size_t i = 0;
  for (; i + 32 <= d; i += 32) {
    const __m256i q = load_bytes(query, i);
    for (std::size_t n = 0; n < N; ++n) {
      sums[n] = add_small_terms<M>(sums[n], q, load_bytes(rows[n], i));
    }
  }
  for (; i + 16 <= d; i += 16) {
    const __m256i q = load_shorts<T>(query, i);
    for (std::size_t n = 0; n < N; ++n) {
      sums[n] = add_term<M>(sums[n], q, load_shorts<T>(rows[n], i));
    }
  }
  if (i < d) {
    const __m256i q = load_short_tail<T>(query, i, d);
    for (std::size_t n = 0; n < N; ++n) {
      sums[n] = add_term<M>(sums[n], q, load_short_tail<T>(rows[n], i, d));
    }
  }
}

/// Adds lanes in one order, the same as in reduce_lanes4(): within 128 bits (0+2)+(1+3), then the
/// halves.
FARVEC_KERNEL float reduce_lanes(__m256 sum) {
  sum = _mm256_add_ps(sum, _mm256_permute_ps(sum, 0x4e));
  sum = _mm256_add_ps(sum, _mm256_permute_ps(sum, 0xb1));
  return _mm_cvtss_f32(_mm_add_ss(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1)));
}

FARVEC_KERNEL float reduce_lanes(__m256i sum) {
  __m128i q = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
  q = _mm_add_epi32(q, _mm_shuffle_epi32(q, 0x4e));
  q = _mm_add_epi32(q, _mm_shuffle_epi32(q, 0xb1));
  return static_cast<float>(_mm_cvtsi128_si32(q));
}

FARVEC_KERNEL __m256 add_pairs(__m256 a, __m256 b) {
  return _mm256_add_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
}

FARVEC_KERNEL __m256i add_pairs(__m256i a, __m256i b) {
  return _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
}

FARVEC_KERNEL void reduce_lanes4(const __m256 (&sums)[4], float* out) {
  const __m256d ab = _mm256_castps_pd(add_pairs(sums[0], sums[1]));
  const __m256d cd = _mm256_castps_pd(add_pairs(sums[2], sums[3]));
  const __m256 abcd = _mm256_add_ps(_mm256_castpd_ps(_mm256_unpacklo_pd(ab, cd)),
                                    _mm256_castpd_ps(_mm256_unpackhi_pd(ab, cd)));
  _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(abcd), _mm256_extractf128_ps(abcd, 1)));
}

FARVEC_KERNEL void reduce_lanes4(const __m256i (&sums)[4], float* out) {
  const __m256i ab = add_pairs(sums[0], sums[1]);
  const __m256i cd = add_pairs(sums[2], sums[3]);
  const __m256i abcd =
      _mm256_add_epi32(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
  _mm_storeu_ps(out, _mm_cvtepi32_ps(_mm_add_epi32(_mm256_castsi256_si128(abcd),
                                                   _mm256_extracti128_si256(abcd, 1))));
}

template <ElementType T>
FARVEC_KERNEL auto zero_lanes() {
  if constexpr (element_bytes(T) == 1) return _mm256_setzero_si256();
  if constexpr (element_bytes(T) != 1) return _mm256_setzero_ps();
}

struct Ops {
  template <ElementType T>
  using Sum = decltype(zero_lanes<T>());

  template <Metric M, ElementType T, std::size_t N>
  FARVEC_KERNEL void sum(const void* query, const RowPointers<N>& rows, std::uint32_t dimension,
                         Sum<T> (&sums)[N]) {
    if constexpr (element_bytes(T) == 1) {
      sum_bytes<M, T>(query, rows, dimension, sums);
    } else if constexpr (N == 4) {  // there are registers for the sums of two rows
      Sum<T> first[2], second[2];
      sum_floats<M, T>(query, RowPointers<2>{rows[0], rows[1]}, dimension, first);
      sum_floats<M, T>(query, RowPointers<2>{rows[2], rows[3]}, dimension, second);
      for (std::size_t n = 0; n < 2; ++n) sums[n] = first[n], sums[n + 2] = second[n];
    } else {
      sum_floats<M, T>(query, rows, dimension, sums);
    }
  }
  FARVEC_KERNEL float reduce(__m256 sum) { return reduce_lanes(sum); }
  FARVEC_KERNEL float reduce(__m256i sum) { return reduce_lanes(sum); }
  FARVEC_KERNEL void reduce4(const __m256 (&sums)[4], float* out) { reduce_lanes4(sums, out); }
  FARVEC_KERNEL void reduce4(const __m256i (&sums)[4], float* out) { reduce_lanes4(sums, out); }
};

/// For rows of small elements.
struct SmallOps : Ops {
  template <Metric M, ElementType T, std::size_t N>
  FARVEC_KERNEL void sum(const void* query, const RowPointers<N>& rows, std::uint32_t dimension,
                         Sum<T> (&sums)[N]) {
    sum_small_bytes<M, T>(query, rows, dimension, sums);
  }
};

void widen_f16(const void* row, std::uint32_t dimension, float* out) {
  std::size_t i = 0;
  for (; i + 8 <= dimension; i += 8) {
    _mm256_storeu_ps(out + i, load_floats<ElementType::f16>(row, i));
  }
  for (; i < dimension; ++i) {
    std::uint16_t half;
    std::memcpy(&half, static_cast<const char*>(row) + i * sizeof(half), sizeof(half));
    out[i] = _cvtsh_ss(half);
  }
}

void narrow_f16(const float* row, std::uint32_t dimension, void* out) {
  char* halves = static_cast<char*>(out);
  std::size_t i = 0;
  for (; i + 8 <= dimension; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(halves + i * 2),
                     _mm256_cvtps_ph(_mm256_loadu_ps(row + i), _MM_FROUND_TO_NEAREST_INT));
  }
  for (; i < dimension; ++i) {
    const __m128i half = _mm_cvtps_ph(_mm_set_ss(row[i]), _MM_FROUND_TO_NEAREST_INT);
    std::memcpy(halves + i * 2, &half, 2);
  }
}

template <std::uint32_t Dimension>
KernelTable make_table() {
  KernelTable table;
  fill_floats<Ops, Dimension>(table);
  fill_integers<Ops, Dimension>(table);
  fill_small<SmallOps, Dimension, Metric::l2, ElementType::u8>(table);
  fill_small<SmallOps, Dimension, Metric::inner_product, ElementType::i8>(table);
  table.widen_f16 = widen_f16;
  table.narrow_f16 = narrow_f16;
  return table;
}

}  // namespace

KernelTable avx2_table(std::uint32_t dimension) {
  switch (dimension) {
    case 96:
      return make_table<96>();
    case 100:
      return make_table<100>();
    case 128:
      return make_table<128>();
    default:
      return make_table<0>();
  }
}

}  // namespace farvec::distance::kernels
