// Implements the kernels of query.h in the compiler's own vectors, for the instruction set for
// which the including file is compiled; all of it is local to that file. It uses only operations
// that every instruction set rounds alike, in one order.
#pragma once

#include <cstring>
#include <numbers>

#include "quantization/kernels/query.h"

namespace farvec::quantization {
namespace {

inline constexpr std::uint32_t kLanes = 16;
using Floats = float __attribute__((vector_size(kLanes * sizeof(float))));

inline void load(Floats& to, const float* from) {
  std::memcpy(&to, from, sizeof(to));
}

inline void store(float* to, const Floats& from) {
  std::memcpy(to, &from, sizeof(from));
}

/// Replaces lane i and lane i ^ stride by their sum and their difference.
template <std::uint32_t stride>
inline void butterfly_lanes(Floats& v) {
  Floats partner, sign;
  if constexpr (stride == 1) {
    partner = __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
    sign = Floats{1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1};
  } else if constexpr (stride == 2) {
    partner = __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    sign = Floats{1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1};
  } else if constexpr (stride == 4) {
    partner = __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
    sign = Floats{1, 1, 1, 1, -1, -1, -1, -1, 1, 1, 1, 1, -1, -1, -1, -1};
  } else {
    partner = __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    sign = Floats{1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1};
  }
  v = partner + v * sign;
}

/// Does two strides at once, so that the values between them are not written.
inline void butterfly_of_four(float* v, std::uint32_t stride) {
  for (std::uint32_t i = 0; i < stride; i += kLanes) {
    Floats a, b, c, d;
    load(a, v + i);
    load(b, v + i + stride);
    load(c, v + i + 2 * stride);
    load(d, v + i + 3 * stride);
    const Floats ab = a + b, a_b = a - b, cd = c + d, c_d = c - d;
    store(v + i, ab + cd);
    store(v + i + stride, a_b + c_d);
    store(v + i + 2 * stride, ab - cd);
    store(v + i + 3 * stride, a_b - c_d);
  }
}

inline void butterfly(float* low, float* high, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const float a = low[i], b = high[i];
    low[i] = a + b;
    high[i] = a - b;
  }
}

/// Applies the Hadamard transform to `size` floats (a power of two), not normalised.
inline void hadamard(float* v, std::uint32_t size) {
  std::uint32_t stride = 1;
  if (size >= kLanes) {
    for (std::uint32_t i = 0; i < size; i += kLanes) {
      Floats lanes;
      load(lanes, v + i);
      butterfly_lanes<1>(lanes);
      butterfly_lanes<2>(lanes);
      butterfly_lanes<4>(lanes);
      butterfly_lanes<8>(lanes);
      store(v + i, lanes);
    }
    for (stride = kLanes; 4 * stride <= size; stride *= 4) {
      for (std::uint32_t i = 0; i < size; i += 4 * stride) butterfly_of_four(v + i, stride);
    }
  }
  for (; stride < size; stride *= 2) {
    for (std::uint32_t i = 0; i < size; i += 2 * stride) butterfly(v + i, v + i + stride, stride);
  }
}

/// Rotates each pair (v[i], v[i + distance]) by 45 degrees; the middle of an odd size stays.
inline void mix_halves(float* v, std::uint32_t size) {
  constexpr float kScale = 1.0f / std::numbers::sqrt2_v<float>;
  const std::uint32_t half = size / 2, distance = size - half;
  std::uint32_t i = 0;
  for (; i + kLanes <= half; i += kLanes) {
    Floats a, b;
    load(a, v + i);
    load(b, v + i + distance);
    store(v + i, (a + b) * kScale);
    store(v + i + distance, (a - b) * kScale);
  }
  for (; i < half; ++i) {
    const float a = v[i], b = v[i + distance];
    v[i] = (a + b) * kScale;
    v[i + distance] = (a - b) * kScale;
  }
}

inline void rotate_vector(const RotationSteps& steps, float* vector) {
  const float* factors = steps.factors;
  for (std::uint32_t round = 0; round < steps.rounds; ++round, factors += steps.dimension) {
    for (std::uint32_t i = 0; i < steps.dimension; ++i) vector[i] *= factors[i];
    hadamard(vector + (round % 2 == 0 ? 0 : steps.dimension - steps.block), steps.block);
    if (steps.block != steps.dimension) mix_halves(vector, steps.dimension);
  }
}

/// Returns the largest magnitude. Magnitudes compare like the integers of their bits, and NaN is
/// above all.
inline float largest_magnitude(const float* values, std::size_t count) {
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, values + i, sizeof(bits));
    bits &= 0x7fffffffu;
    most = most < bits ? bits : most;
  }
  float largest;
  std::memcpy(&largest, &most, sizeof(largest));
  return largest;
}

/// Returns the integer nearest to a magnitude below 2^22: the number that is added leaves no bits
/// for a fraction.
inline std::int32_t nearest(float value, float limit) {
  constexpr float kNoFraction = 12582912.0f;  // 1.5 * 2^23
  const float magnitude = value < 0 ? -value : value;
  // False also for NaN, which a query may hold that was not checked.
  const float usable = magnitude < limit ? value : 0.0f;
  return static_cast<std::int32_t>((usable + kNoFraction) - kNoFraction);
}

inline DigitSums quantise_digits(const float* values, std::size_t count, float per_unit, float top,
                                 std::int8_t* coarse, std::int8_t* fine) {
  const float limit = top + 0.5f;
  DigitSums sums;
  if (fine == nullptr) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t value = nearest(values[i] * per_unit, limit);
      coarse[i] = static_cast<std::int8_t>(value);
      sums.coarse += value;
    }
    return sums;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t value = nearest(values[i] * per_unit, limit);
    const std::int32_t high = (value + 64) >> 7;
    coarse[i] = static_cast<std::int8_t>(high);
    fine[i] = static_cast<std::int8_t>(value - high * 128);
    sums.coarse += high;
    sums.fine += value - high * 128;
  }
  return sums;
}

inline constexpr QueryKernels kThisFilesQueryKernels{rotate_vector, largest_magnitude,
                                                     quantise_digits};

}  // namespace
}  // namespace farvec::quantization
