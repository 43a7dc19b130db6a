#include "quantization/rotation.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "base/error.h"
#include "base/random.h"
#include "base/types.h"

namespace farvec::quantization {
namespace {

/// The two smallest strides at once, because a loop of one or two items does not vectorise.
void butterfly_of_four(float* v) {
  const float a = v[0] + v[1], b = v[0] - v[1], c = v[2] + v[3], d = v[2] - v[3];
  v[0] = a + c;
  v[1] = b + d;
  v[2] = a - c;
  v[3] = b - d;
}

void butterfly(float* low, float* high, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const float a = low[i], b = high[i];
    low[i] = a + b;
    high[i] = a - b;
  }
}

/// Hadamard transform of `size` floats (a power of two), not normalised.
void hadamard(float* v, std::uint32_t size) {
  std::uint32_t stride = 1;
  if (size >= 4) {
    for (std::uint32_t i = 0; i < size; i += 4) butterfly_of_four(v + i);
    stride = 4;
  }
  for (; stride < size; stride *= 2) {
    for (std::uint32_t i = 0; i < size; i += 2 * stride) butterfly(v + i, v + i + stride, stride);
  }
}

/// Rotates each pair (v[i], v[i + distance]) by 45 degrees; the middle of an odd size stays.
void mix_halves(float* v, std::uint32_t size) {
  constexpr float kScale = 1.0f / std::numbers::sqrt2_v<float>;
  const std::uint32_t half = size / 2, distance = size - half;
  for (std::uint32_t i = 0; i < half; ++i) {
    const float a = v[i], b = v[i + distance];
    v[i] = (a + b) * kScale;
    v[i + distance] = (a - b) * kScale;
  }
}

}  // namespace

Rotation::Rotation(std::uint32_t dimension, std::uint64_t seed)
    : dimension_(dimension), block_(std::bit_floor(dimension)) {
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
  const float* factors = factors_.data();
  for (std::uint32_t round = 0; round < kRounds; ++round, factors += dimension_) {
    for (std::uint32_t i = 0; i < dimension_; ++i) vector[i] *= factors[i];
    hadamard(vector + (round % 2 == 0 ? 0 : dimension_ - block_), block_);
    if (block_ != dimension_) mix_halves(vector, dimension_);
  }
}

}  // namespace farvec::quantization
