#include "distance/distance.h"

#include "base/error.h"
#include "base/stored_form.h"
#include "distance/kernels/kernels.h"

namespace farvec::distance {

namespace {

#if defined(__x86_64__)
kernels::KernelTable avx512_table(std::uint32_t dimension) {
  const CpuFeatures& features = cpu_features();
  kernels::KernelTable table = kernels::avx512_table(dimension);
  kernels::use_avx512_bits(dimension, table);
  if (features.avx512_vnni) kernels::use_avx512_vnni(dimension, table);
  if (features.avx512_vpopcntdq) kernels::use_avx512_vpopcntdq(dimension, table);
  return table;
}

kernels::KernelTable avx2_table(std::uint32_t dimension) {
  kernels::KernelTable table = kernels::avx2_table(dimension);
  kernels::use_avx2_bits(dimension, table);
  return table;
}
#elif defined(__aarch64__)
kernels::KernelTable neon_table(std::uint32_t dimension) {
  kernels::KernelTable table = kernels::neon_table();
  kernels::use_neon_bits(dimension, table);
  return table;
}
#endif

kernels::KernelTable portable_table(std::uint32_t dimension) {
  kernels::KernelTable table = kernels::portable_table();
  kernels::use_portable_bits(dimension, table);
  return table;
}

}  // namespace

kernels::KernelTable kernels::table_for(Isa isa, std::uint32_t dimension) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::avx512:
      return distance::avx512_table(dimension);
    case Isa::avx2:
      return distance::avx2_table(dimension);
#elif defined(__aarch64__)
    case Isa::neon:
      return distance::neon_table(dimension);
#endif
    default:
      return distance::portable_table(dimension);
  }
}

namespace {

kernels::KernelTable checked_table(Metric metric, ElementType type, std::uint32_t dimension,
                                   Isa isa) {
  require_metric_fits(metric, type);
  const bool counts = type == ElementType::u8 || type == ElementType::i8;
  const std::uint32_t most = counts ? kMaxDimension : kMaxBits;
  if (dimension == 0 || dimension > most) {
    throw Error("no distance kernel for dimension {}: it must be 1 to {}", dimension, most);
  }
  if (stored_type(metric, type) != type) {
    throw Error("no distance kernel for {} over {}: store the vectors as {} (to_stored)",
                to_string(metric), to_string(type), to_string(stored_type(metric, type)));
  }
  if (!is_available(isa)) {
    throw Error("distance kernels for {} cannot run on this processor", to_string(isa));
  }
  return kernels::table_for(isa, dimension);
}

template <typename Kernel>
Kernel select(const kernels::ByMetricAndType<Kernel>& kernels, Metric metric, ElementType type) {
  return kernels[static_cast<std::size_t>(metric)][static_cast<std::size_t>(type)];
}

}  // namespace

PairKernel pair_kernel(Metric metric, ElementType type, std::uint32_t dimension, Isa isa) {
  return select(checked_table(metric, type, dimension, isa).pair, metric, type);
}

ManyKernel many_kernel(Metric metric, ElementType type, std::uint32_t dimension, Isa isa) {
  return select(checked_table(metric, type, dimension, isa).many, metric, type);
}

}  // namespace farvec::distance
