// 8-bit types with AVX-512 VNNI. vpdpbusd multiplies unsigned by signed bytes, so one factor is
// shifted by 128 (its top bit flipped) and 128 times the sum of the other is taken back at the end.
#include "distance/kernels/avx512_common.h"

namespace farvec::distance::kernels {
namespace {

struct Sums {
  __m512i products = _mm512_setzero_si512();
  __m512i factors = _mm512_setzero_si512();
};

template <Metric M, ElementType T>
FARVEC_KERNEL void add_terms(Sums& sums, __m512i a, __m512i b) {
  const __m512i top_bits = _mm512_set1_epi8(-128);
  const __m512i ones = _mm512_set1_epi8(1);
  if constexpr (M == Metric::l2) {
    const __m512i d = absolute_difference<T>(a, b);
    sums.products = _mm512_dpbusd_epi32(sums.products, d, _mm512_xor_si512(d, top_bits));
    sums.factors = _mm512_dpbusd_epi32(sums.factors, d, ones);
  } else if constexpr (T == ElementType::u8) {
    sums.products = _mm512_dpbusd_epi32(sums.products, a, _mm512_xor_si512(b, top_bits));
    sums.factors = _mm512_dpbusd_epi32(sums.factors, a, ones);
  } else {
    sums.products = _mm512_dpbusd_epi32(sums.products, _mm512_xor_si512(a, top_bits), b);
    sums.factors = _mm512_dpbusd_epi32(sums.factors, ones, b);
  }
}

struct Ops {
  template <Metric M, ElementType T>
  FARVEC_KERNEL __m512i sum(const void* a, const void* b, std::uint32_t d) {
    const auto add = [&](Sums & sums, std::uint32_t i) __attribute__((always_inline)) {
      add_terms<M, T>(sums, load_bytes(a, i, d), load_bytes(b, i, d));
    };
    Sums even, odd;
    std::uint32_t i = 0;
    for (; i + 128 <= d; i += 128) {
      add(even, i);
      add(odd, i + 64);
    }
    if (i < d) add(even, i);
    if (i + 64 < d) add(odd, i + 64);
    const __m512i products = _mm512_add_epi32(even.products, odd.products);
    const __m512i shift = _mm512_slli_epi32(_mm512_add_epi32(even.factors, odd.factors), 7);
    constexpr bool kShiftedUp = M != Metric::l2 && T == ElementType::i8;
    return kShiftedUp ? _mm512_sub_epi32(products, shift) : _mm512_add_epi32(products, shift);
  }
  FARVEC_KERNEL float reduce(__m512i sum) { return reduce_lanes(sum); }
  FARVEC_KERNEL void reduce4(const __m512i (&sums)[4], float* out) { reduce_lanes4(sums, out); }
};

}  // namespace

void use_avx512_vnni(std::uint32_t dimension, KernelTable& table) {
  switch (dimension) {
    case 96:
      return fill_integers<Ops, 96>(table);
    case 100:
      return fill_integers<Ops, 100>(table);
    case 128:
      return fill_integers<Ops, 128>(table);
    default:
      return fill_integers<Ops, 0>(table);
  }
}

}  // namespace farvec::distance::kernels
