#include "search/searchers/exact_distance.h"

#include <vector>

#include "base/stored_form.h"
#include "distance/distance.h"

namespace farvec::search {

dataset::ExactDistance exact_distance(Metric metric, const dataset::VectorFileInfo& info) {
  require_metric_fits(metric, info.type);
  if (!stores_unit_vectors(metric)) {
    return {distance::pair_kernel(metric, info.type, info.dimension), nullptr, info.type};
  }
  const auto prepare = [metric, type = info.type, dimension = info.dimension](const std::byte* in,
                                                                              std::byte* out) {
    std::vector<float> wide(dimension);
    distance::widen(in, type, dimension, wide.data());
    distance::to_stored(wide.data(), ElementType::f32, metric, dimension, out);
  };
  return {distance::pair_kernel(metric, ElementType::f32, info.dimension), prepare,
          ElementType::f32};
}

}  // namespace farvec::search
