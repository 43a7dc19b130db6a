// This file is plain C++ for any processor. It counts bits within bytes, in four words at a time,
// so that a compiler may use vectors.
#include "distance/kernels/bits/words.h"

namespace farvec::distance::kernels {
namespace {

constexpr std::size_t kWords = 4;
constexpr std::size_t kStep = kWords * 8;
/// The steps whose counts fit a byte, with the rest of a row after them.
constexpr std::size_t kStepsOfBytes = 255 / 8 - 1;

/// Counts the bits of each byte, within that byte.
FARVEC_KERNEL std::uint64_t bits_of_bytes(std::uint64_t word) {
  word -= (word >> 1) & 0x5555555555555555u;
  word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
  return (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
}

/// Adds up the eight bytes of a word.
FARVEC_KERNEL std::uint32_t sum_of_bytes(std::uint64_t word) {
  word = (word & 0x00ff00ff00ff00ffu) + ((word >> 8) & 0x00ff00ff00ff00ffu);
  return static_cast<std::uint32_t>((word * 0x0001000100010001u) >> 48);
}

struct PortableCounts {
  std::uint64_t differ[kWords] = {};
  std::uint64_t either[kWords] = {};
};

template <Metric M>
FARVEC_KERNEL void add_word(PortableCounts& counts, std::size_t i, std::uint64_t a,
                            std::uint64_t b) {
  counts.differ[i] += bits_of_bytes(a ^ b);
  if constexpr (M == Metric::jaccard) counts.either[i] += bits_of_bytes(a | b);
}

/// Adds the bytes of [i, bytes), less than a step.
template <Metric M>
FARVEC_KERNEL void add_rest(PortableCounts& counts, const std::byte* a, const std::byte* b,
                            std::size_t i, std::size_t bytes) {
  std::size_t word = 0;
  for (; i + 8 <= bytes; i += 8, ++word) {
    add_word<M>(counts, word, load_word<std::uint64_t>(a + i), load_word<std::uint64_t>(b + i));
  }
  if (i == bytes) return;
  add_word<M>(counts, word, load_rest(a, bytes, bytes - i), load_rest(b, bytes, bytes - i));
}

struct PortableBits {
  template <Metric M>
  FARVEC_KERNEL float one(const void* query, const void* row, std::size_t bytes) {
    const auto* a = static_cast<const std::byte*>(query);
    const auto* b = static_cast<const std::byte*>(row);
    std::uint32_t differ = 0, either = 0;
    std::size_t i = 0;
    do {
      PortableCounts counts;
      for (std::size_t steps = 0; steps < kStepsOfBytes && i + kStep <= bytes;
           ++steps, i += kStep) {
        for (std::size_t word = 0; word < kWords; ++word) {
          add_word<M>(counts, word, load_word<std::uint64_t>(a + i + word * 8),
                      load_word<std::uint64_t>(b + i + word * 8));
        }
      }
      if (i + kStep > bytes) {
        add_rest<M>(counts, a, b, i, bytes);
        i = bytes;
      }
      for (const std::uint64_t word : counts.differ) differ += sum_of_bytes(word);
      for (const std::uint64_t word : counts.either) either += sum_of_bytes(word);
    } while (i < bytes);
    return from_counts<M>(differ, either);
  }
  template <Metric M>
  FARVEC_KERNEL void four(const void* query, const RowPointers<4>& rows, std::size_t bytes,
                          float* out) {
    for (std::size_t n = 0; n < 4; ++n) out[n] = one<M>(query, rows[n], bytes);
  }
};

}  // namespace

void use_portable_bits(std::uint32_t dimension, KernelTable& table) {
  fill_bits_for<PortableBits>(dimension, table);
}

}  // namespace farvec::distance::kernels
