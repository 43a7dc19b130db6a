// This file compares bits with plain C++, eight bytes at a time.
#include <bit>
#include <cstring>

#include "distance/kernels/table.h"

namespace farvec::distance::kernels {
namespace {

std::uint64_t load_word(const std::byte* row, std::size_t bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, row, bytes);
  return word;
}

template <Metric M>
float distance_of_bits(const void* a, const void* b, std::uint32_t dimension) {
  const auto* x = static_cast<const std::byte*>(a);
  const auto* y = static_cast<const std::byte*>(b);
  const std::size_t bytes = packed_bytes(ElementType::b1, dimension);
  std::uint32_t first = 0, second = 0;
  for (std::size_t i = 0; i < bytes; i += 8) {
    const std::size_t left = bytes - i < 8 ? bytes - i : 8;
    const std::uint64_t p = load_word(x + i, left);
    const std::uint64_t q = load_word(y + i, left);
    if constexpr (M == Metric::hamming) {
      first += static_cast<std::uint32_t>(std::popcount(p ^ q));
    } else {
      first += static_cast<std::uint32_t>(std::popcount(p & q));
      second += static_cast<std::uint32_t>(std::popcount(p | q));
    }
  }
  if constexpr (M == Metric::hamming) return static_cast<float>(first);
  if (second == 0) return 1.0f;
  return 1.0f - static_cast<float>(first) / static_cast<float>(second);
}

template <Metric M>
void distances_of_bits(const void* query, const VectorView& rows, std::span<const NodeId> ids,
                       float* out) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out[i] = distance_of_bits<M>(query, rows.row(ids[i]), rows.dimension);
  }
}

template <Metric M>
void use(KernelTable& table) {
  const auto m = static_cast<std::size_t>(M);
  const auto t = static_cast<std::size_t>(ElementType::b1);
  table.pair[m][t] = distance_of_bits<M>;
  table.many[m][t] = distances_of_bits<M>;
}

}  // namespace

void use_bits(KernelTable& table) {
  use<Metric::hamming>(table);
  use<Metric::jaccard>(table);
}

}  // namespace farvec::distance::kernels
