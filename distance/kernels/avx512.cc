// This file uses AVX-512 F, BW, VL and DQ, with F16C. For 8-bit types it uses 16-bit multiply-adds,
// without VNNI.
#include "distance/kernels/avx512_common.h"

namespace farvec::distance::kernels {
namespace {

/// Loads 16 elements of a row from its i-th on as f32, or `left` if that is less: no more is read,
/// and the other lanes are 0.
template <ElementType T>
FARVEC_KERNEL __m512 load_floats(const void* row, std::size_t i, std::size_t left) {
  const char* address = static_cast<const char*>(row) + i * element_bytes(T);
  const auto mask = static_cast<__mmask16>((1u << (left & 15)) - 1);
  if constexpr (T == ElementType::f32) {
    return left >= 16 ? _mm512_loadu_ps(address) : _mm512_maskz_loadu_ps(mask, address);
  } else {
    const auto* halves = reinterpret_cast<const __m256i*>(address);
    return _mm512_cvtph_ps(left >= 16 ? _mm256_loadu_si256(halves)
                                      : _mm256_maskz_loadu_epi16(mask, halves));
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

/// The sums of one row. Set member by member, because GCC turns a loop into a call of memset.
struct FloatLanes {
  __m512 s[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(),
                 _mm512_setzero_ps()};
};

template <Metric M, ElementType T, std::size_t N>
FARVEC_KERNEL void sum_floats(const void* query, const RowPointers<N>& rows, std::uint32_t d,
                              __m512 (&sums)[N]) {
  FloatLanes lanes[N];
  const auto add = [&](std::size_t lane, std::size_t i, std::size_t left)
      __attribute__((always_inline)) {
    const __m512 q = load_floats<T>(query, i, left);
    for (std::size_t n = 0; n < N; ++n) {
      lanes[n].s[lane] = add_term<M>(lanes[n].s[lane], q, load_floats<T>(rows[n], i, left));
    }
  };
  std::size_t i = 0;
  for (; i + 64 <= d; i += 64) {
    add(0, i, 16);
    add(1, i + 16, 16);
    add(2, i + 32, 16);
    add(3, i + 48, 16);
  }
  const std::size_t left = d - i;
  if (left > 0) add(0, i, left);
  if (left > 16) add(1, i + 16, left - 16);
  if (left > 32) add(2, i + 32, left - 32);
  if (left > 48) add(3, i + 48, left - 48);
  for (std::size_t n = 0; n < N; ++n) {
    const __m512(&s)[4] = lanes[n].s;
    sums[n] = _mm512_add_ps(_mm512_add_ps(s[0], s[1]), _mm512_add_ps(s[2], s[3]));
  }
}

/// The sum of products of all elements of two vectors of 8-bit numbers, in 32-bit lanes.
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
  const auto add = [&](std::size_t i, std::size_t left) __attribute__((always_inline)) {
    const __m512i q = load_bytes(query, i, left);
    for (std::size_t n = 0; n < N; ++n) {
      sums[n] = add_term<M, T>(sums[n], q, load_bytes(rows[n], i, left));
    }
  };
  std::size_t i = 0;
  for (; i + 64 <= d; i += 64) add(i, 64);
  if (i < d) add(i, d - i);
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
  for (std::size_t i = 0; i < dimension; i += 16) {
    const std::size_t left = dimension - i;
    const auto mask = static_cast<__mmask16>(left < 16 ? (1u << left) - 1 : 0xffff);
    _mm512_mask_storeu_ps(out + i, mask, load_floats<ElementType::f16>(row, i, left));
  }
}

void narrow_f16(const float* row, std::uint32_t dimension, void* out) {
  for (std::size_t i = 0; i < dimension; i += 16) {
    const std::size_t left = dimension - i;
    const auto mask = static_cast<__mmask16>(left < 16 ? (1u << left) - 1 : 0xffff);
    const __m256i halves =
        _mm512_cvtps_ph(load_floats<ElementType::f32>(row, i, left), _MM_FROUND_TO_NEAREST_INT);
    _mm256_mask_storeu_epi16(static_cast<char*>(out) + i * 2, mask, halves);
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
