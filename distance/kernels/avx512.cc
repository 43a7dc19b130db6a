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

template <Metric M, ElementType T>
FARVEC_KERNEL __m512 sum_floats(const void* a, const void* b, std::uint32_t d) {
  const auto add = [&](__m512 sum, std::uint32_t i) __attribute__((always_inline)) {
    return add_term<M>(sum, load_floats<T>(a, i, d), load_floats<T>(b, i, d));
  };
  __m512 s0 = _mm512_setzero_ps();
  __m512 s1 = s0, s2 = s0, s3 = s0;
  std::uint32_t i = 0;
  for (; i + 64 <= d; i += 64) {
    s0 = add(s0, i);
    s1 = add(s1, i + 16);
    s2 = add(s2, i + 32);
    s3 = add(s3, i + 48);
  }
  if (i < d) s0 = add(s0, i);
  if (i + 16 < d) s1 = add(s1, i + 16);
  if (i + 32 < d) s2 = add(s2, i + 32);
  if (i + 48 < d) s3 = add(s3, i + 48);
  return _mm512_add_ps(_mm512_add_ps(s0, s1), _mm512_add_ps(s2, s3));
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
FARVEC_KERNEL __m512i sum_bytes(const void* a, const void* b, std::uint32_t d) {
  const auto add = [&](__m512i sum, std::uint32_t i) __attribute__((always_inline)) {
    const __m512i x = load_bytes(a, i, d);
    const __m512i y = load_bytes(b, i, d);
    if constexpr (M == Metric::l2) {
      const __m512i difference = absolute_difference<T>(x, y);
      return _mm512_add_epi32(sum, multiply_add<ElementType::u8>(difference, difference));
    } else {
      return _mm512_add_epi32(sum, multiply_add<T>(x, y));
    }
  };
  __m512i s0 = _mm512_setzero_si512();
  __m512i s1 = s0;
  std::uint32_t i = 0;
  for (; i + 128 <= d; i += 128) {
    s0 = add(s0, i);
    s1 = add(s1, i + 64);
  }
  if (i < d) s0 = add(s0, i);
  if (i + 64 < d) s1 = add(s1, i + 64);
  return _mm512_add_epi32(s0, s1);
}

struct Ops {
  template <Metric M, ElementType T>
  FARVEC_KERNEL auto sum(const void* a, const void* b, std::uint32_t dimension) {
    if constexpr (T == ElementType::f32 || T == ElementType::f16) {
      return sum_floats<M, T>(a, b, dimension);
    } else {
      return sum_bytes<M, T>(a, b, dimension);
    }
  }
  template <typename Sum>
  FARVEC_KERNEL float reduce(Sum sum) {
    return reduce_lanes(sum);
  }
  template <typename Sum>
  FARVEC_KERNEL void reduce4(const Sum (&sums)[4], float* out) {
    reduce_lanes4(sums, out);
  }
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
