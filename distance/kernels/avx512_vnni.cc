// This file handles 8-bit types with AVX-512 VNNI. vpdpbusd multiplies unsigned by signed bytes, so
// one factor is moved by 128 (its top bit is flipped), and 128 times the sum of the other factor
// corrects the result at the end.
#include "distance/kernels/avx512_common.h"

namespace farvec::distance::kernels {
namespace {

/// The products with one factor moved by 128, and the sum of the factors that were not moved.
struct Lanes {
  __m512i products = _mm512_setzero_si512();
  __m512i factors = _mm512_setzero_si512();
};

/// For inner products the sum is over the query's elements, so that the compiler computes it once
/// for all rows.
template <Metric M, ElementType T>
FARVEC_KERNEL void add_terms(Lanes& lanes, __m512i query, __m512i row) {
  const __m512i top_bits = _mm512_set1_epi8(-128);
  const __m512i ones = _mm512_set1_epi8(1);
  if constexpr (M == Metric::l2) {
    const __m512i d = absolute_difference<T>(query, row);
    lanes.products = _mm512_dpbusd_epi32(lanes.products, d, _mm512_xor_si512(d, top_bits));
    lanes.factors = _mm512_dpbusd_epi32(lanes.factors, d, ones);
  } else if constexpr (T == ElementType::u8) {  // query * (row - 128)
    lanes.products = _mm512_dpbusd_epi32(lanes.products, query, _mm512_xor_si512(row, top_bits));
    lanes.factors = _mm512_dpbusd_epi32(lanes.factors, query, ones);
  } else {  // (row + 128) * query
    lanes.products = _mm512_dpbusd_epi32(lanes.products, _mm512_xor_si512(row, top_bits), query);
    lanes.factors = _mm512_dpbusd_epi32(lanes.factors, ones, query);
  }
}

template <Metric M, ElementType T>
FARVEC_KERNEL __m512i put_back(const Lanes& even, const Lanes& odd) {
  const __m512i products = _mm512_add_epi32(even.products, odd.products);
  const __m512i moved = _mm512_slli_epi32(_mm512_add_epi32(even.factors, odd.factors), 7);
  constexpr bool kMovedUp = M != Metric::l2 && T == ElementType::i8;
  return kMovedUp ? _mm512_sub_epi32(products, moved) : _mm512_add_epi32(products, moved);
}

struct Ops {
  template <ElementType>
  using Sum = decltype(_mm512_setzero_si512());

  template <Metric M, ElementType T, std::size_t N>
  FARVEC_KERNEL void sum(const void* query, const RowPointers<N>& rows, std::uint32_t d,
                         __m512i (&sums)[N]) {
    Lanes even[N], odd[N];
    const auto add = [&](Lanes(&lanes)[N], std::size_t i, std::size_t left)
        __attribute__((always_inline)) {
      const __m512i q = load_bytes(query, i, left);
      for (std::size_t n = 0; n < N; ++n) {
        add_terms<M, T>(lanes[n], q, load_bytes(rows[n], i, left));
      }
    };
    std::size_t i = 0;
    for (; i + 128 <= d; i += 128) {
      add(even, i, 64);
      add(odd, i + 64, 64);
    }
    const std::size_t left = d - i;
    if (left > 0) add(even, i, left);
    if (left > 64) add(odd, i + 64, left - 64);
    for (std::size_t n = 0; n < N; ++n) sums[n] = put_back<M, T>(even[n], odd[n]);
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
