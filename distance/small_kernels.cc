#include "distance/small_kernels.h"

#include <algorithm>
#include <cstddef>

#include "distance/kernels/kernels.h"

namespace farvec::distance {
namespace {

template <typename Kernel>
Kernel small_of(const kernels::ByMetricAndType<Kernel>& kernels, Metric metric, ElementType type) {
  return kernels[static_cast<std::size_t>(metric)][static_cast<std::size_t>(type)];
}

}  // namespace

bool is_small_row(const void* row, ElementType type, std::uint32_t dimension) {
  const auto* const bytes = static_cast<const std::uint8_t*>(row);
  if (type == ElementType::i8)
    return std::find(bytes, bytes + dimension, 0x80) == bytes + dimension;
  std::uint8_t all = 0;
  for (std::uint32_t i = 0; i < dimension; ++i) all |= bytes[i];
  return all < 0x80;
}

PairKernel small_pair_kernel(Metric metric, ElementType type, std::uint32_t dimension, Isa isa) {
  const PairKernel usual = pair_kernel(metric, type, dimension, isa);
  const PairKernel small = small_of(kernels::table_for(isa, dimension).small_pair, metric, type);
  return small != nullptr ? small : usual;
}

ManyKernel small_many_kernel(Metric metric, ElementType type, std::uint32_t dimension, Isa isa) {
  const ManyKernel usual = many_kernel(metric, type, dimension, isa);
  const ManyKernel small = small_of(kernels::table_for(isa, dimension).small_many, metric, type);
  return small != nullptr ? small : usual;
}

}  // namespace farvec::distance
