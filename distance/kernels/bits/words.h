// Loads bits in words of 64, and makes distances of counts. Only for the .cc files of this folder.
#pragma once

#include <cstring>

#include "distance/kernels/table.h"

namespace farvec::distance::kernels {

template <typename T>
FARVEC_KERNEL std::uint64_t load_word(const std::byte* address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

/// Loads the last `left` bytes (1 to 7) of a row of `bytes`, and nothing beyond. The word's other
/// bits are 0.
FARVEC_KERNEL std::uint64_t load_rest(const std::byte* row, std::size_t bytes, std::size_t left) {
  if (bytes >= 8) return load_word<std::uint64_t>(row + bytes - 8) >> (64 - 8 * left);
  if (left >= 4) {  // the two words overlap
    const std::uint64_t last = load_word<std::uint32_t>(row + left - 4);
    return load_word<std::uint32_t>(row) | (last >> (64 - 8 * left)) << 32;
  }
  const std::size_t middle = left / 2, last = left - 1;
  return load_word<std::uint8_t>(row) | load_word<std::uint8_t>(row + middle) << (8 * middle) |
         load_word<std::uint8_t>(row + last) << (8 * last);
}

/// Makes a distance of the numbers of bits that differ and that are set in either vector. Both are
/// exact, and the quotient is rounded once: it is the float next to the distance.
template <Metric M>
FARVEC_KERNEL float from_counts(std::uint32_t differ, std::uint32_t either) {
  const auto distance = static_cast<float>(static_cast<std::int32_t>(differ));
  if constexpr (M == Metric::hamming) return distance;
  if (either == 0) return 1.0f;
  return distance / static_cast<float>(static_cast<std::int32_t>(either));
}

template <typename Ops, std::uint32_t Dimension>
void fill_bits(KernelTable& table) {
  fill<Ops, Dimension, Metric::hamming, ElementType::b1>(table);
  fill<Ops, Dimension, Metric::jaccard, ElementType::b1>(table);
}

/// Takes the kernels for `dimension` if it is a common one, else those for any.
template <typename Ops>
void fill_bits_for(std::uint32_t dimension, KernelTable& table) {
  switch (dimension) {
    case 128:
      return fill_bits<Ops, 128>(table);
    case 256:
      return fill_bits<Ops, 256>(table);
    case 384:
      return fill_bits<Ops, 384>(table);
    case 512:
      return fill_bits<Ops, 512>(table);
    case 768:
      return fill_bits<Ops, 768>(table);
    case 1024:
      return fill_bits<Ops, 1024>(table);
    case 1536:
      return fill_bits<Ops, 1536>(table);
    default:
      return fill_bits<Ops, 0>(table);
  }
}

}  // namespace farvec::distance::kernels
