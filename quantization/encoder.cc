#include "quantization/encoder.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/memory.h"
#include "quantization/ordered_dot.h"

namespace farvec::quantization {
namespace {

/// Where clipping begins, in standard deviations of the residual's values, when these are normally
/// distributed and the uniform quantiser with this number of bits is the best one. The search tries
/// scales around it.
constexpr double kNormalReach[9] = {0, 0, 1.99, 2.34, 2.68, 3.01, 3.33, 3.64, 3.94};
constexpr int kScaleSteps = 32;
constexpr double kNarrowest = 0.65, kWidest = 1.35;

// Four floats are the vector that every 64-bit processor has. Sixteen lanes of sums in four of them
// give the same result everywhere.
using Floats = float __attribute__((vector_size(16)));
using Integers = std::int32_t __attribute__((vector_size(16)));
constexpr std::size_t kVectors = 4, kLanes = 16;

double total(const Floats* sums) {
  double result = 0;
  for (std::size_t v = 0; v < kVectors; ++v) {
    for (int lane = 0; lane < 4; ++lane) result += static_cast<double>(sums[v][lane]);
  }
  return result;
}

/// min(floor(scale * a), top) for magnitudes a; `top` for NaN.
inline Integers levels_of(Floats a, Floats scale, Floats top) {
  const Floats scaled = a * scale;
  return __builtin_convertvector(scaled < top ? scaled : top, Integers);
}

struct Fit {
  double product = 0, squares = 0;
};

/// <a, x> and |x|^2 of the code x = levels + 1/2; zeros pad `a` to a multiple of 16.
Fit fit_magnitudes(const std::vector<float>& a, float scale, float top) {
  Floats products[kVectors] = {}, squares[kVectors] = {};
  const Floats scales = {scale, scale, scale, scale}, tops = {top, top, top, top};
  for (std::size_t i = 0; i < a.size(); i += kLanes) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const auto values = load_unaligned<Floats>(a.data() + i + 4 * v);
      const Floats level = __builtin_convertvector(levels_of(values, scales, tops), Floats);
      products[v] += (level + 0.5f) * values;
      squares[v] += level * (level + 1.0f);
    }
  }
  return {total(products), total(squares)};
}

/// Level l of a negative value becomes all - l. Without a branch, which would be mispredicted half
/// of the time.
void flip_negative(const float* r, std::size_t dimension, std::uint8_t all, std::uint8_t* levels) {
  for (std::size_t i = 0; i < dimension; ++i) {
    const auto negative = static_cast<std::uint8_t>(-static_cast<std::int32_t>(r[i] < 0));
    levels[i] = static_cast<std::uint8_t>(levels[i] ^ (negative & all));
  }
}

}  // namespace

Encoder::Encoder(const CodeShape& shape)
    : shape_(shape),
      top_(static_cast<float>((1u << (shape.bits - 1)) - 1)),
      magnitudes_(round_up(shape.dimension, kLanes)),
      levels_(magnitudes_.size()) {}

float Encoder::best_scale(double norm2) const {
  if (shape_.bits == 1 || !(norm2 > 0)) return 0;
  const double reach = std::sqrt(norm2 / shape_.dimension) * kNormalReach[shape_.bits];
  double best = -1;
  float chosen = 0;
  for (int step = 0; step < kScaleSteps; ++step) {
    const double stretch = kNarrowest + (kWidest - kNarrowest) * step / (kScaleSteps - 1);
    const auto scale = static_cast<float>((top_ + 1.0) / (reach * stretch));
    const Fit fit = fit_magnitudes(magnitudes_, scale, top_);
    const double quality = fit.product * fit.product / (fit.squares + 0.25 * shape_.dimension);
    if (quality > best) {
      best = quality;
      chosen = scale;
    }
  }
  return chosen;
}

CodeFit Encoder::fit(const float* r) {
  const std::uint32_t dimension = shape_.dimension;
  const double norm2 = ordered_dot(r, r, dimension);
  for (std::uint32_t i = 0; i < dimension; ++i) magnitudes_[i] = std::fabs(r[i]);
  const float scale = best_scale(norm2);
  const Fit fit = fit_magnitudes(magnitudes_, scale, top_);
  set_levels(r, scale);
  return {norm2, fit.squares + 0.25 * dimension, fit.product};
}

void Encoder::set_levels(const float* r, float scale) {
  const Floats scales = {scale, scale, scale, scale}, tops = {top_, top_, top_, top_};
  const std::int32_t half = 1 << (shape_.bits - 1);
  for (std::size_t i = 0; i < levels_.size(); i += 4) {
    const auto values = load_unaligned<Floats>(magnitudes_.data() + i);
    const Integers levels = levels_of(values, scales, tops);
    for (int lane = 0; lane < 4; ++lane) {
      levels_[i + lane] = static_cast<std::uint8_t>(half + levels[lane]);
    }
  }
  flip_negative(r, shape_.dimension, static_cast<std::uint8_t>(2 * half - 1), levels_.data());
}

void Encoder::pack(const CodeShape& shape, std::uint8_t* record) const {
  std::memset(record, 0, shape.code_bytes);
  std::uint32_t remaining = shape.bits;
  for (std::uint32_t p = 0; p < shape.plane_count; ++p) {
    const Plane& plane = shape.planes[p];
    remaining -= plane.width;
    std::uint8_t* bytes = record + plane.offset;
    for (std::uint32_t group = 0, begin = 0; begin < shape.dimension;
         ++group, begin += plane.bytes) {
      const std::uint32_t count = std::min(plane.bytes, shape.dimension - begin);
      const std::uint32_t shift = group * plane.width;
      for (std::uint32_t j = 0; j < count; ++j) {
        const std::uint32_t digit = (levels_[begin + j] >> remaining) & plane.mask();
        bytes[j] = static_cast<std::uint8_t>(bytes[j] | digit << shift);
      }
    }
  }
}

}  // namespace farvec::quantization
