// This file uses NEON, which every aarch64 has. Tails are copied to a zeroed vector.
#include <arm_neon.h>

#include "distance/kernels/bits/words.h"

namespace farvec::distance::kernels {
namespace {

/// The bytes of a row whose counts fit one byte of each lane, with the rest of a row after them.
constexpr std::size_t kNeonBlock = (255 / 8 - 1) * 16;

/// The bits that differ and that are set in either vector, counted in bytes.
struct ByteCounts {
  uint8x16_t differ = vdupq_n_u8(0);
  uint8x16_t either = vdupq_n_u8(0);
};

struct NeonCounts {
  std::uint32_t differ = 0;
  std::uint32_t either = 0;
};

/// Loads sixteen bytes of a row from its i-th on, or `left` if that is less: no more is read, and
/// the other lanes are 0.
FARVEC_KERNEL uint8x16_t load_bytes(const void* row, std::size_t i, std::size_t left) {
  std::uint8_t bytes[16] = {};
  std::memcpy(bytes, static_cast<const char*>(row) + i, left < 16 ? left : 16);
  return vld1q_u8(bytes);
}

template <Metric M>
FARVEC_KERNEL void add_bits(ByteCounts& counts, uint8x16_t a, uint8x16_t b) {
  counts.differ = vaddq_u8(counts.differ, vcntq_u8(veorq_u8(a, b)));
  if constexpr (M == Metric::jaccard) {
    counts.either = vaddq_u8(counts.either, vcntq_u8(vorrq_u8(a, b)));
  }
}

template <Metric M, std::size_t N>
FARVEC_KERNEL void count_block(const void* query, const RowPointers<N>& rows, std::size_t i,
                               std::size_t end, NeonCounts (&counts)[N]) {
  ByteCounts of_bytes[N];
  const auto add = [&](std::size_t at, std::size_t left) __attribute__((always_inline)) {
    const uint8x16_t q = load_bytes(query, at, left);
    for (std::size_t n = 0; n < N; ++n) add_bits<M>(of_bytes[n], q, load_bytes(rows[n], at, left));
  };
  for (; i + 16 <= end; i += 16) add(i, 16);
  if (i < end) add(i, end - i);
  for (std::size_t n = 0; n < N; ++n) {
    counts[n].differ += vaddlvq_u8(of_bytes[n].differ);
    if constexpr (M == Metric::jaccard) counts[n].either += vaddlvq_u8(of_bytes[n].either);
  }
}

template <Metric M, std::size_t N>
FARVEC_KERNEL void distances(const void* query, const RowPointers<N>& rows, std::size_t bytes,
                             float* out) {
  NeonCounts counts[N];
  std::size_t i = 0;
  for (; i + kNeonBlock < bytes; i += kNeonBlock)
    count_block<M>(query, rows, i, i + kNeonBlock, counts);
  count_block<M>(query, rows, i, bytes, counts);
  for (std::size_t n = 0; n < N; ++n) out[n] = from_counts<M>(counts[n].differ, counts[n].either);
}

struct NeonBits {
  template <Metric M>
  FARVEC_KERNEL float one(const void* query, const void* row, std::size_t bytes) {
    float distance;
    distances<M>(query, RowPointers<1>{row}, bytes, &distance);
    return distance;
  }
  template <Metric M>
  FARVEC_KERNEL void four(const void* query, const RowPointers<4>& rows, std::size_t bytes,
                          float* out) {
    distances<M>(query, rows, bytes, out);
  }
};

}  // namespace

void use_neon_bits(std::uint32_t dimension, KernelTable& table) {
  fill_bits_for<NeonBits>(dimension, table);
}

}  // namespace farvec::distance::kernels
