// Sums of floats in an order that does not depend on the instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace farvec::quantization {

/// Sixteen running sums: item i goes to lane i % 16, and the lanes are added in order at the end.
/// Compilers keep the lanes in vector registers of any width with the same result.
class LaneSums {
 public:
  static constexpr std::size_t kLanes = 16;

  /// Adds item(i) for i in [0, count).
  template <typename Item>
  void add(std::size_t count, const Item& item) {
    std::size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) lanes_[lane] += item(i + lane);
    }
    for (std::size_t lane = 0; i + lane < count; ++lane) lanes_[lane] += item(i + lane);
  }

  double total() const {
    double sum = 0;
    for (const float lane : lanes_) sum += static_cast<double>(lane);
    return sum;
  }

 private:
  float lanes_[kLanes] = {};
};

inline double ordered_dot(const float* a, const float* b, std::size_t count) {
  LaneSums sums;
  sums.add(count, [&](std::size_t i) { return a[i] * b[i]; });
  return sums.total();
}

}  // namespace farvec::quantization
