// ordered_dot() adds up floats in an order that does not depend on the instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace farvec::quantization {

/// <a, b> in sixteen running sums: item i goes to lane i % 16, and the lanes are added in order at
/// the end. Compilers keep the lanes in vector registers of any width with the same result.
inline double ordered_dot(const float* a, const float* b, std::size_t count) {
  constexpr std::size_t kLanes = 16;
  float lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  }
  for (std::size_t lane = 0; i + lane < count; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  double sum = 0;
  for (const float lane : lanes) sum += static_cast<double>(lane);
  return sum;
}

}  // namespace farvec::quantization
