// This file counts bits with AVX-512 BW, without VPOPCNTDQ: it looks up the counts of half bytes.
#include "distance/kernels/bits/avx512_common.h"

namespace farvec::distance::kernels {
namespace {

/// The bytes of a row whose counts fit one byte of each lane, with the rest of a row after them.
constexpr std::size_t kAvx512Block = (255 / 8 - 1) * 64;

/// Counts the bits of each byte, within that byte.
FARVEC_KERNEL __m512i bits_of_bytes(__m512i v) {
  const __m512i counts =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const __m512i low = _mm512_set1_epi8(0x0f);
  const __m512i first = _mm512_and_si512(v, low);
  const __m512i second = _mm512_and_si512(_mm512_srli_epi16(v, 4), low);
  return _mm512_add_epi8(_mm512_shuffle_epi8(counts, first), _mm512_shuffle_epi8(counts, second));
}

/// Adds to counts of bytes.
template <Metric M>
FARVEC_KERNEL void add_bytes(Counts& counts, __m512i a, __m512i b) {
  counts.differ = _mm512_add_epi8(counts.differ, bits_of_bytes(_mm512_xor_si512(a, b)));
  if constexpr (M == Metric::jaccard) {
    counts.either = _mm512_add_epi8(counts.either, bits_of_bytes(_mm512_or_si512(a, b)));
  }
}

FARVEC_KERNEL void add_lanes(Counts& counts, const Counts& bytes) {
  const __m512i zero = _mm512_setzero_si512();
  counts.differ = _mm512_add_epi64(counts.differ, _mm512_sad_epu8(bytes.differ, zero));
  counts.either = _mm512_add_epi64(counts.either, _mm512_sad_epu8(bytes.either, zero));
}

struct Lookup {
  template <Metric M, std::size_t N>
  FARVEC_KERNEL void count(const void* query, const RowPointers<N>& rows, std::size_t bytes,
                           Counts (&counts)[N]) {
    std::size_t i = 0;
    for (; i + kAvx512Block < bytes; i += kAvx512Block)
      count_block<M>(query, rows, i, i + kAvx512Block, counts);
    count_block<M>(query, rows, i, bytes, counts);
  }

  template <Metric M>
  FARVEC_KERNEL Counts count_of(__m512i a, __m512i b) {
    Counts counts, of_bytes;
    add_bytes<M>(of_bytes, a, b);
    add_lanes(counts, of_bytes);
    return counts;
  }

 private:
  template <Metric M, std::size_t N>
  FARVEC_KERNEL void count_block(const void* query, const RowPointers<N>& rows, std::size_t i,
                                 std::size_t end, Counts (&counts)[N]) {
    Counts of_bytes[N];
    const auto add = [&](std::size_t at, std::size_t left) __attribute__((always_inline)) {
      const __m512i q = load_bytes(query, at, left);
      for (std::size_t n = 0; n < N; ++n) {
        add_bytes<M>(of_bytes[n], q, load_bytes(rows[n], at, left));
      }
    };
    for (; i + 64 <= end; i += 64) add(i, 64);
    if (i < end) add(i, end - i);
    for (std::size_t n = 0; n < N; ++n) add_lanes(counts[n], of_bytes[n]);
  }
};

}  // namespace

void use_avx512_bits(std::uint32_t dimension, KernelTable& table) {
  fill_bits_for<Avx512Bits<Lookup>>(dimension, table);
}

}  // namespace farvec::distance::kernels
