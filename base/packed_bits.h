// This function makes bits of elements, as vectors of b1 have them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace farvec {

/// Writes packed_bytes(ElementType::b1, dimension) bytes: element i is set where is_set(i) is true,
/// and the bits after the last element are 0.
template <typename IsSet>
void pack_bits(std::uint32_t dimension, std::byte* out, const IsSet& is_set) {
  for (std::uint32_t first = 0; first < dimension; first += 8) {
    const std::uint32_t end = std::min(first + 8, dimension);
    unsigned byte = 0;
    for (std::uint32_t i = first; i < end; ++i) byte |= unsigned{is_set(i)} << (i - first);
    out[first / 8] = static_cast<std::byte>(byte);
  }
}

}  // namespace farvec
