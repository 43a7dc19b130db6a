// This file uses AVX2, where counts of half bytes are looked up, and POPCNT for short rows.
#include <bit>

#include "distance/kernels/bits/x86.h"

namespace farvec::distance::kernels {
namespace {

/// The bytes of a row whose counts fit one byte of each lane, with the rest of a row after them.
constexpr std::size_t kAvx2Block = (255 / 8 - 1) * 32;

/// The bits that differ and that are set in either vector, counted in lanes of 64 bits. A count is
/// at most kMaxBits, so that the upper half of a lane is 0. Hamming leaves `either` at 0.
struct Avx2Counts {
  __m256i differ = _mm256_setzero_si256();
  __m256i either = _mm256_setzero_si256();
};

FARVEC_KERNEL __m256i load(const void* row, std::size_t i) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(static_cast<const char*>(row) + i));
}

/// Avx2Counts the bits of each byte, within that byte.
FARVEC_KERNEL __m256i bits_of_bytes(__m256i v) {
  const __m256i counts =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const __m256i low = _mm256_set1_epi8(0x0f);
  const __m256i first = _mm256_and_si256(v, low);
  const __m256i second = _mm256_and_si256(_mm256_srli_epi16(v, 4), low);
  return _mm256_add_epi8(_mm256_shuffle_epi8(counts, first), _mm256_shuffle_epi8(counts, second));
}

/// Adds to counts of bytes.
template <Metric M>
FARVEC_KERNEL void add_bytes(Avx2Counts& counts, __m256i a, __m256i b) {
  counts.differ = _mm256_add_epi8(counts.differ, bits_of_bytes(_mm256_xor_si256(a, b)));
  if constexpr (M == Metric::jaccard) {
    counts.either = _mm256_add_epi8(counts.either, bits_of_bytes(_mm256_or_si256(a, b)));
  }
}

FARVEC_KERNEL void add_lanes(Avx2Counts& counts, const Avx2Counts& bytes) {
  const __m256i zero = _mm256_setzero_si256();
  counts.differ = _mm256_add_epi64(counts.differ, _mm256_sad_epu8(bytes.differ, zero));
  counts.either = _mm256_add_epi64(counts.either, _mm256_sad_epu8(bytes.either, zero));
}

/// All bits set in the last `count` bytes.
FARVEC_KERNEL __m256i last_bytes(std::size_t count) {
  const __m256i index = _mm256_setr_epi8(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17,
                                         16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  return _mm256_cmpgt_epi8(_mm256_set1_epi8(static_cast<char>(count)), index);
}

template <Metric M, std::size_t N>
FARVEC_KERNEL void count_block(const void* query, const RowPointers<N>& rows, std::size_t i,
                               std::size_t end, Avx2Counts (&counts)[N]) {
  Avx2Counts of_bytes[N];
  for (; i + 32 <= end; i += 32) {
    const __m256i q = load(query, i);
    for (std::size_t n = 0; n < N; ++n) add_bytes<M>(of_bytes[n], q, load(rows[n], i));
  }
  if (i < end) {  // the row's last vector, without what was counted
    const __m256i wanted = last_bytes(end - i);
    const __m256i q = _mm256_and_si256(load(query, end - 32), wanted);
    for (std::size_t n = 0; n < N; ++n) {
      add_bytes<M>(of_bytes[n], q, _mm256_and_si256(load(rows[n], end - 32), wanted));
    }
  }
  for (std::size_t n = 0; n < N; ++n) add_lanes(counts[n], of_bytes[n]);
}

/// For rows of 32 bytes and more.
template <Metric M, std::size_t N>
FARVEC_KERNEL void count(const void* query, const RowPointers<N>& rows, std::size_t bytes,
                         Avx2Counts (&counts)[N]) {
  std::size_t i = 0;
  for (; i + kAvx2Block < bytes; i += kAvx2Block)
    count_block<M>(query, rows, i, i + kAvx2Block, counts);
  count_block<M>(query, rows, i, bytes, counts);
}

FARVEC_KERNEL std::uint32_t sum_of(__m256i lanes) {
  const __m128i two =
      _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(two) + _mm_extract_epi32(two, 2));
}

FARVEC_KERNEL __m128i sums_of(__m256i a, __m256i b, __m256i c, __m256i d) {
  const __m256i ab = _mm256_or_si256(a, _mm256_slli_epi64(b, 32));
  const __m256i cd = _mm256_or_si256(c, _mm256_slli_epi64(d, 32));
  const __m256i all =
      _mm256_add_epi32(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
  return _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
}

/// Avx2Counts in words of 64 bits.
template <Metric M>
FARVEC_KERNEL float distance_of_words(const void* query, const void* row, std::size_t bytes) {
  const auto* a = static_cast<const std::byte*>(query);
  const auto* b = static_cast<const std::byte*>(row);
  std::uint32_t differ = 0, either = 0;
  const auto add = [&](std::uint64_t x, std::uint64_t y) __attribute__((always_inline)) {
    differ += static_cast<std::uint32_t>(std::popcount(x ^ y));
    if constexpr (M == Metric::jaccard) either += static_cast<std::uint32_t>(std::popcount(x | y));
  };
  std::size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    add(load_word<std::uint64_t>(a + i), load_word<std::uint64_t>(b + i));
  }
  if (i < bytes) add(load_rest(a, bytes, bytes - i), load_rest(b, bytes, bytes - i));
  return from_counts<M>(differ, either);
}

/// Shorter rows are counted by words.
constexpr std::size_t kVector = 32;

struct Avx2Bits {
  template <Metric M>
  FARVEC_KERNEL float one(const void* query, const void* row, std::size_t bytes) {
    if (bytes < kVector) return distance_of_words<M>(query, row, bytes);
    Avx2Counts counts[1];
    count<M>(query, RowPointers<1>{row}, bytes, counts);
    return from_counts<M>(sum_of(counts[0].differ), sum_of(counts[0].either));
  }

  template <Metric M>
  FARVEC_KERNEL void four(const void* query, const RowPointers<4>& rows, std::size_t bytes,
                          float* out) {
    if (bytes < kVector) {
      for (std::size_t n = 0; n < 4; ++n) out[n] = distance_of_words<M>(query, rows[n], bytes);
      return;
    }
    Avx2Counts counts[4];
    count<M>(query, rows, bytes, counts);
    store_distances<M>(
        sums_of(counts[0].differ, counts[1].differ, counts[2].differ, counts[3].differ),
        sums_of(counts[0].either, counts[1].either, counts[2].either, counts[3].either), out);
  }
};

}  // namespace

void use_avx2_bits(std::uint32_t dimension, KernelTable& table) {
  fill_bits_for<Avx2Bits>(dimension, table);
}

}  // namespace farvec::distance::kernels
