#include "quantization/encoder.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "quantization/lane_sums.h"

namespace farvec::quantization {
namespace {

/// Where clipping begins, in standard deviations of the residual's values, when they are normally
/// distributed and the uniform quantiser of so many bits is the best one. The search goes around.
constexpr double kNormalReach[9] = {0, 0, 1.99, 2.34, 2.68, 3.01, 3.33, 3.64, 3.94};
constexpr int kScaleSteps = 12;
constexpr double kNarrowest = 0.62, kWidest = 1.45;

/// <a, x>^2 / |x|^2 for the code x = min(floor(scale * a), top) + 1/2 of the magnitudes a.
double score(const std::vector<float>& a, float scale, float top) {
  LaneSums products, squares;
  const float* values = a.data();
  const auto level_of = [=](std::size_t i) {
    const float scaled = values[i] * scale;
    // The comparison is false for NaN, which becomes `top`.
    return static_cast<float>(static_cast<std::int32_t>(scaled < top ? scaled : top));
  };
  products.add(a.size(), [&](std::size_t i) { return (level_of(i) + 0.5f) * values[i]; });
  squares.add(a.size(), [&](std::size_t i) {
    const float level = level_of(i);
    return level * (level + 1.0f);
  });
  const double product = products.total();
  return product * product / (squares.total() + 0.25 * static_cast<double>(a.size()));
}

}  // namespace

Encoder::Encoder(const CodeShape& shape)
    : shape_(shape), magnitudes_(shape.dimension), levels_(shape.dimension) {}

float Encoder::best_scale(double norm2) const {
  const float top = static_cast<float>((1u << (shape_.bits - 1)) - 1);
  const double deviation = std::sqrt(norm2 / shape_.dimension);
  const double reach = deviation * kNormalReach[shape_.bits];
  double best = -1;
  float chosen = 1;
  for (int step = 0; step < kScaleSteps; ++step) {
    const double stretch = kNarrowest + (kWidest - kNarrowest) * step / (kScaleSteps - 1);
    const auto scale = static_cast<float>((top + 1.0) / (reach * stretch));
    const double quality = score(magnitudes_, scale, top);
    if (quality > best) {
      best = quality;
      chosen = scale;
    }
  }
  return chosen;
}

CodeFit Encoder::fit(const float* r) {
  const std::uint32_t dimension = shape_.dimension;
  CodeFit fit;
  fit.norm2 = ordered_dot(r, r, dimension);
  for (std::uint32_t i = 0; i < dimension; ++i) magnitudes_[i] = std::fabs(r[i]);
  const bool search = shape_.bits > 1 && fit.norm2 > 0;
  const float scale = search ? best_scale(fit.norm2) : 0.0f;
  const std::int32_t half = 1 << (shape_.bits - 1);
  const auto top = static_cast<float>(half - 1);
  LaneSums products;
  std::int64_t squares = 0;
  for (std::uint32_t i = 0; i < dimension; ++i) {
    const float scaled = magnitudes_[i] * scale;
    const auto level = static_cast<std::int32_t>(scaled < top ? scaled : top);
    levels_[i] = static_cast<std::uint8_t>(r[i] < 0 ? half - 1 - level : half + level);
    squares += level * (level + 1);
  }
  const float centre = static_cast<float>(half) - 0.5f;
  products.add(dimension,
               [&](std::size_t i) { return (static_cast<float>(levels_[i]) - centre) * r[i]; });
  fit.code_norm2 = static_cast<double>(squares) + 0.25 * dimension;
  fit.product = products.total();
  return fit;
}

void Encoder::pack(std::uint8_t* record) const {
  std::memset(record, 0, shape_.code_bytes);
  std::uint32_t remaining = shape_.bits;
  for (std::uint32_t p = 0; p < shape_.plane_count; ++p) {
    const Plane& plane = shape_.planes[p];
    remaining -= plane.width;
    std::uint8_t* bytes = record + plane.offset;
    for (std::uint32_t group = 0, begin = 0; begin < shape_.dimension;
         ++group, begin += plane.bytes) {
      const std::uint32_t count = std::min(plane.bytes, shape_.dimension - begin);
      const std::uint32_t shift = group * plane.width;
      for (std::uint32_t j = 0; j < count; ++j) {
        const std::uint32_t digit = (levels_[begin + j] >> remaining) & plane.mask();
        bytes[j] = static_cast<std::uint8_t>(bytes[j] | digit << shift);
      }
    }
  }
}

}  // namespace farvec::quantization
