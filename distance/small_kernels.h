// These kernels compare rows of small elements: u8 of at most 127 under l2, and i8 without -128
// under inner_product. They have the same bits as those of distance.h, and may be faster.
#pragma once

#include <cstdint>

#include "base/types.h"
#include "distance/distance.h"

namespace farvec::distance {

/// Says whether there are such rows of this type.
constexpr bool may_be_small(Metric metric, ElementType type) {
  return (metric == Metric::l2 && type == ElementType::u8) ||
         (metric == Metric::inner_product && type == ElementType::i8);
}
/// Says whether all elements of a row are small; may_be_small() is true of its type.
bool is_small_row(const void* row, ElementType type, std::uint32_t dimension);

/// These return what pair_kernel() and many_kernel() return where may_be_small() is false, and
/// throw what they throw.
PairKernel small_pair_kernel(Metric metric, ElementType type, std::uint32_t dimension,
                             Isa isa = active_isa());
ManyKernel small_many_kernel(Metric metric, ElementType type, std::uint32_t dimension,
                             Isa isa = active_isa());

}  // namespace farvec::distance
