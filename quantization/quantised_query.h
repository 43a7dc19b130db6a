// Turns a rotated query into the integers that the kernels read, and the kernels' results into
// estimates.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "quantization/code_shape.h"
#include "quantization/factors.h"
#include "quantization/kernels/query.h"
#include "quantization/rabitq.h"

namespace farvec::quantization {

/// Quantises the rotated query in out.scratch for codes of `bits` bits whose planes have `shapes`,
/// most significant first. Fills out.coarse, out.fine and their biases; the mirror of each shape
/// follows the mirror of the shape before. Returns the step.
double quantise_query(std::span<const CodeShape> shapes, std::uint32_t bits,
                      const QueryKernels& kernels, RabitqQuery& out);

inline float coarse_product(const RabitqQuery& query, std::int32_t dot) {
  return static_cast<float>(2 * dot - query.coarse_bias);
}

inline float fine_product(const RabitqQuery& query, float coarse, std::int32_t dot) {
  return coarse * 128.0f + static_cast<float>(2 * dot - query.fine_bias);
}

inline float estimate_one(const RabitqQuery& query, float product, std::uint32_t factors) {
  const auto add = static_cast<float>(static_cast<std::int32_t>(factors & FactorCodec::kMask));
  const auto rescale = static_cast<float>(
      static_cast<std::int32_t>(factors >> FactorCodec::kRescaleShift & FactorCodec::kMask));
  return (query.base + query.add_scale * add) +
         (query.rescale_base + query.rescale_scale * rescale) * product;
}

/// Returns the statistical bound, plus the largest error of rounding the factors.
inline float error_one(const RabitqQuery& query, float product, std::uint32_t factors) {
  const auto error =
      static_cast<float>(static_cast<std::int32_t>(factors >> FactorCodec::kErrorShift));
  return query.error_scale * error +
         0.5f * (std::fabs(query.add_scale) + std::fabs(query.rescale_scale * product));
}

}  // namespace farvec::quantization
