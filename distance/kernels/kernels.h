// The table of functions that each instruction set's file in this folder fills.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "distance/distance.h"

namespace farvec::distance::kernels {

inline constexpr std::size_t kMetrics = 3;
inline constexpr std::size_t kTypes = 4;

/// Indexed by Metric and ElementType; cosine over integers is null.
template <typename Kernel>
using ByMetricAndType = std::array<std::array<Kernel, kTypes>, kMetrics>;

struct KernelTable {
  ByMetricAndType<PairKernel> pair{};
  ByMetricAndType<ManyKernel> many{};
  void (*widen_f16)(const void* row, std::uint32_t dimension, float* out) = nullptr;
  void (*narrow_f16)(const float* row, std::uint32_t dimension, void* out) = nullptr;
};

/// The kernels for vectors of `dimension` elements. A file that is not compiled for this
/// architecture gives empty tables.
KernelTable portable_table(std::uint32_t dimension);

}  // namespace farvec::distance::kernels
