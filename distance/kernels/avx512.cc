// AVX-512 F, BW, VL and DQ, with F16C. 8-bit types without VNNI: 16-bit multiply-adds.
#include "distance/kernels/avx512_common.h"

namespace farvec::distance::kernels {
namespace {

/// Elements [i, i + 16) as f32; those from `dimension` on are not read and come as 0.
template <ElementType T>
FARVEC_KERNEL __m512 load_floats(const void* row, std::uint32_t i, std::uint32_t dimension) {
  const char* address = static_cast<const char*>(row) + i * element_bytes(T);
  const bool whole = dimension - i >= 16;
  const auto mask = static_cast<__mmask16>((1u << (whole ? 0 : dimension - i)) - 1);
  if constexpr (T == ElementType::f32) {
    return whole ? _mm512_loadu_ps(address) : _mm512_maskz_loadu_ps(mask, address);
  } else {
    return _mm512_cvtph_ps(whole ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(address))
                                 : _mm256_maskz_loadu_epi16(mask, address));
  }
}

template <Metric M>
FARVEC_KERNEL __m512 add_term(__m512 sum, __m512 a, __m512 b) {
  if constexpr (M == Metric::l2) {
    const __m512 difference = _mm512_sub_ps(a, b);
    return _mm512_fmadd_ps(difference, difference, sum);
  } else {
    return _mm512_fmadd_ps(a, b, sum);
  }
}

template <Metric M, ElementType T, std::size_t N>
FARVEC_KERNEL void sum_floats(const void* query, const RowPointers<N>& rows, std::uint32_t d,
                              __m512 (&sums)[N]) {
  __m512 lanes[4][N];
  for (auto& lane : lanes) {
    for (__m512& sum : lane) sum = _mm512_setzero_ps();
  }
  const auto add = [&](std::size_t lane, std::uint32_t i) __attribute__((always_inline)) {
    const __m512 q = load_floats<T>(query, i, d);
    for (std::size_t n = 0; n < N; ++n) {
      lanes[lane][n] = add_term<M>(lanes[lane][n], q, load_floats<T>(rows[n], i, d));
    }
  };
  std::uint32_t i = 0;
  for (; i + 64 <= d; i += 64) {
    add(0, i);
    add(1, i + 16);
    add(2, i + 32);
    add(3, i + 48);
  }
  if (i < d) add(0, i);
  if (i + 16 < d) add(1, i + 16);
  if (i + 32 < d) add(2, i + 32);
  if (i + 48 < d) add(3, i + 48);
  for (std::size_t n = 0; n < N; ++n) {
    sums[n] = _mm512_add_ps(_mm512_add_ps(lanes[0][n], lanes[1][n]),
                            _mm512_add_ps(lanes[2][n], lanes[3][n]));
  }
}

/// Sum of products of all elements of two vectors of 8-bit numbers, in 32-bit lanes.
template <ElementType T>
FARVEC_KERNEL __m512i multiply_add(__m512i a, __m512i b) {
  const auto widened = [](__m256i x) __attribute__((always_inline)) {
    return T == ElementType::u8 ? _mm512_cvtepu8_epi16(x) : _mm512_cvtepi8_epi16(x);
  };
  const __m512i low =
      _mm512_madd_epi16(widened(_mm512_castsi512_si256(a)), widened(_mm512_castsi512_si256(b)));
  const __m512i high = _mm512_madd_epi16(widened(_mm512_extracti64x4_epi64(a, 1)),
                                         widened(_mm512_extracti64x4_epi64(b, 1)));
  return _mm512_add_epi32(low, high);
}

template <Metric M, ElementType T>
FARVEC_KERNEL __m512i add_term(__m512i sum, __m512i a, __m512i b) {
  if constexpr (M == Metric::l2) {
    const __m512i difference = absolute_difference<T>(a, b);
    return _mm512_add_epi32(sum, multiply_add<ElementType::u8>(difference, difference));
  } else {
    return _mm512_add_epi32(sum, multiply_add<T>(a, b));
  }
}

template <Metric M, ElementType T, std::size_t N>
FARVEC_KERNEL void sum_bytes(const void* query, const RowPointers<N>& rows, std::uint32_t d,
                             __m512i (&sums)[N]) {
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  for (std::uint32_t i = 0; i < d; i += 64) {
    const __m512i q = load_bytes(query, i, d);
    for (std::size_t n = 0; n < N; ++n) {
      sums[n] = add_term<M, T>(sums[n], q, load_bytes(rows[n], i, d));
    }
  }
}

template <ElementType T>
FARVEC_KERNEL auto zero_lanes() {
  if constexpr (element_bytes(T) == 1) return _mm512_setzero_si512();
  if constexpr (element_bytes(T) != 1) return _mm512_setzero_ps();
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
  FARVEC_KERNEL float reduce(__m512 sum) { return reduce_lanes(sum); }
  FARVEC_KERNEL float reduce(__m512i sum) { return reduce_lanes(sum); }
  FARVEC_KERNEL void reduce4(const __m512 (&sums)[4], float* out) { reduce_lanes4(sums, out); }
  FARVEC_KERNEL void reduce4(const __m512i (&sums)[4], float* out) { reduce_lanes4(sums, out); }
};

void widen_f16(const void* row, std::uint32_t dimension, float* out) {
  for (std::uint32_t i = 0; i < dimension; i += 16) {
    const std::uint32_t count = dimension - i < 16 ? dimension - i : 16;
    _mm512_mask_storeu_ps(out + i, static_cast<__mmask16>((1u << count) - 1),
                          load_floats<ElementType::f16>(row, i, dimension));
  }
}

void narrow_f16(const float* row, std::uint32_t dimension, void* out) {
  for (std::uint32_t i = 0; i < dimension; i += 16) {
    const std::uint32_t count = dimension - i < 16 ? dimension - i : 16;
    const __m512 values = load_floats<ElementType::f32>(row, i, dimension);
    _mm256_mask_storeu_epi16(static_cast<char*>(out) + i * 2,
                             static_cast<__mmask16>((1u << count) - 1),
                             _mm512_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
  }
}

template <std::uint32_t Dimension>
KernelTable make_table() {
  KernelTable table;
  fill_floats<Ops, Dimension>(table);
  fill_integers<Ops, Dimension>(table);
  table.widen_f16 = widen_f16;
  table.narrow_f16 = narrow_f16;
  return table;
}

}  // namespace

KernelTable avx512_table(std::uint32_t dimension) {
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
