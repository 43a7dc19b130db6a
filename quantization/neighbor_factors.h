// NeighborFactors are the two numbers beside a neighbour's code, stored in 16 bits each.
#pragma once

#include <cstdint>

#include "quantization/rabitq.h"

namespace farvec::quantization {

/// The estimate is the distance of the vertex + add - rescale * <x, y>, where x is the code's
/// vector and y the rotated query minus the centroid.
struct NeighborFactors {
  float add = 0;
  float rescale = 0;
};

/// Stores factors in fixed point over the trained ranges, rounded to nearest.
class NeighborFactorCodec {
 public:
  static constexpr std::uint32_t kTop = 0xffff;

  explicit NeighborFactorCodec(const RabitqParameters& p)
      : add_min_(p.add_min),
        rescale_min_(p.rescale_min),
        add_step_((static_cast<double>(p.add_max) - p.add_min) / kTop),
        rescale_step_((static_cast<double>(p.rescale_max) - p.rescale_min) / kTop) {}

  std::uint16_t encode_add(float add) const { return in_steps(add - add_min_, add_step_); }
  std::uint16_t encode_rescale(float rescale) const {
    return in_steps(rescale - rescale_min_, rescale_step_);
  }

  double add_step() const { return add_step_; }
  double rescale_step() const { return rescale_step_; }

 private:
  /// Returns 0 when the range is a single point.
  static std::uint16_t in_steps(double value, double step) {
    if (!(step > 0) || !(value > 0)) return 0;
    const double steps = value / step + 0.5;
    return static_cast<std::uint16_t>(steps < kTop ? steps : kTop);
  }

  double add_min_, rescale_min_;
  double add_step_, rescale_step_;
};

}  // namespace farvec::quantization
