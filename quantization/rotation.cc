#include "quantization/rotation.h"

#include <bit>
#include <cmath>
#include <cstddef>

#include "base/error.h"
#include "base/random.h"
#include "base/types.h"
#include "quantization/kernels/query.h"

namespace farvec::quantization {

Rotation::Rotation(std::uint32_t dimension, std::uint64_t seed)
    : dimension_(dimension),
      block_(std::bit_floor(dimension)),
      kernels_(&select_query_kernels(distance::active_isa())) {
  if (dimension == 0 || dimension > kMaxDimension) {
    throw Error("a rotation needs a dimension from 1 to {}, not {}", kMaxDimension, dimension);
  }
  factors_.resize(std::size_t{kRounds} * dimension);
  Random random(seed);
  const float scale = 1.0f / std::sqrt(static_cast<float>(block_));
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    const std::uint32_t begin = round % 2 == 0 ? 0 : dimension - block_;
    for (std::uint32_t i = 0; i < dimension; ++i) {
      const bool in_block = i >= begin && i < begin + block_;
      const float magnitude = in_block ? scale : 1.0f;
      factors_[std::size_t{round} * dimension + i] =
          (random.next() >> 63) != 0 ? magnitude : -magnitude;
    }
  }
}

void Rotation::apply(float* vector) const {
  kernels_->rotate({factors_.data(), dimension_, block_, kRounds}, vector);
}

}  // namespace farvec::quantization
