// A KernelTable is the table of functions that each instruction set's file in this folder fills.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "distance/distance.h"

namespace farvec::distance::kernels {

/// Indexed by Metric and ElementType; cosine over integers is null, and so is every metric over a
/// type that it cannot compare.
template <typename Kernel>
using ByMetricAndType = std::array<std::array<Kernel, kElementTypes.size()>, kMetrics.size()>;

struct KernelTable {
  ByMetricAndType<PairKernel> pair{};
  ByMetricAndType<ManyKernel> many{};
  /// For rows of small elements (small_kernels.h). Null: the others are as fast.
  ByMetricAndType<PairKernel> small_pair{};
  ByMetricAndType<ManyKernel> small_many{};
  void (*widen_f16)(const void* row, std::uint32_t dimension, float* out) = nullptr;
  void (*narrow_f16)(const float* row, std::uint32_t dimension, void* out) = nullptr;
};

/// Each one is compiled on its own architecture only and may be called only where is_available() is
/// true. `dimension` chooses between kernels for any dimension and those for a common one.
KernelTable portable_table();
KernelTable neon_table();
KernelTable avx2_table(std::uint32_t dimension);
KernelTable avx512_table(std::uint32_t dimension);
/// Replaces the 8-bit kernels of an avx512_table(); for processors with VNNI.
void use_avx512_vnni(std::uint32_t dimension, KernelTable& table);

/// Each one sets the kernels for bits, and the rules above hold for it.
void use_portable_bits(std::uint32_t dimension, KernelTable& table);
void use_neon_bits(std::uint32_t dimension, KernelTable& table);
void use_avx2_bits(std::uint32_t dimension, KernelTable& table);
void use_avx512_bits(std::uint32_t dimension, KernelTable& table);
/// For processors with VPOPCNTDQ.
void use_avx512_vpopcntdq(std::uint32_t dimension, KernelTable& table);

/// Returns the best table for `isa` on this processor.
KernelTable table_for(Isa isa, std::uint32_t dimension);

}  // namespace farvec::distance::kernels
