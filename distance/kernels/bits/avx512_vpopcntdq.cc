// This file counts bits with AVX-512 VPOPCNTDQ, 64 bytes at a time.
#include "distance/kernels/bits/avx512_common.h"

namespace farvec::distance::kernels {
namespace {

template <Metric M>
FARVEC_KERNEL void add_bits(Counts& counts, __m512i a, __m512i b) {
  counts.differ = _mm512_add_epi64(counts.differ, _mm512_popcnt_epi64(_mm512_xor_si512(a, b)));
  if constexpr (M == Metric::jaccard) {
    counts.either = _mm512_add_epi64(counts.either, _mm512_popcnt_epi64(_mm512_or_si512(a, b)));
  }
}

struct Vpopcntdq {
  template <Metric M, std::size_t N>
  FARVEC_KERNEL void count(const void* query, const RowPointers<N>& rows, std::size_t bytes,
                           Counts (&counts)[N]) {
    const auto add = [&](std::size_t i, std::size_t left) __attribute__((always_inline)) {
      const __m512i q = load_bytes(query, i, left);
      for (std::size_t n = 0; n < N; ++n) add_bits<M>(counts[n], q, load_bytes(rows[n], i, left));
    };
    std::size_t i = 0;
    for (; i + 64 <= bytes; i += 64) add(i, 64);
    if (i < bytes) add(i, bytes - i);
  }

  template <Metric M>
  FARVEC_KERNEL Counts count_of(__m512i a, __m512i b) {
    Counts counts;
    add_bits<M>(counts, a, b);
    return counts;
  }
};

}  // namespace

void use_avx512_vpopcntdq(std::uint32_t dimension, KernelTable& table) {
  fill_bits_for<Avx512Bits<Vpopcntdq>>(dimension, table);
}

}  // namespace farvec::distance::kernels
