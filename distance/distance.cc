#include "distance/distance.h"

#include "base/error.h"
#include "distance/kernels/kernels.h"

namespace farvec::distance {
namespace {

kernels::KernelTable table_for(Metric metric, ElementType type, std::uint32_t dimension, Isa isa) {
  if (dimension == 0 || dimension > kMaxDimension) {
    throw Error("no distance kernel for dimension {}: it must be 1 to {}", dimension,
                kMaxDimension);
  }
  if (stored_type(metric, type) != type) {
    throw Error("no distance kernel for {} over {}: store the vectors as {} (to_stored)",
                to_string(metric), to_string(type), to_string(stored_type(metric, type)));
  }
  if (!is_available(isa)) {
    throw Error("distance kernels for {} cannot run on this processor", to_string(isa));
  }
  return kernels::portable_table(dimension);
}

template <typename Kernel>
Kernel select(const kernels::ByMetricAndType<Kernel>& kernels, Metric metric, ElementType type) {
  return kernels[static_cast<std::size_t>(metric)][static_cast<std::size_t>(type)];
}

}  // namespace

PairKernel pair_kernel(Metric metric, ElementType type, std::uint32_t dimension, Isa isa) {
  return select(table_for(metric, type, dimension, isa).pair, metric, type);
}

ManyKernel many_kernel(Metric metric, ElementType type, std::uint32_t dimension, Isa isa) {
  return select(table_for(metric, type, dimension, isa).many, metric, type);
}

ElementType stored_type(Metric metric, ElementType source) {
  const bool integer = source == ElementType::u8 || source == ElementType::i8;
  return metric == Metric::cosine && integer ? ElementType::f16 : source;
}

}  // namespace farvec::distance
