// Factors are the three numbers beside a code; FactorCodec fits them into one 32-bit word.
#pragma once

#include <cstdint>

namespace farvec::quantization {

struct RabitqParameters;

/// The estimate is offset(query) + share(query) * add - rescale * <x, y> (twice that for l2),
/// within error * |y| (twice that for l2); x is the code's vector and y the query minus its share
/// of the centroid.
struct Factors {
  float add = 0;
  float rescale = 0;
  float error = 0;
};

/// Stores factors in fixed point: bits 0-11 add, 12-23 rescale (both rounded to nearest), 24-31
/// error (rounded up).
class FactorCodec {
 public:
  static constexpr std::uint32_t kMask = 0xfff;
  static constexpr std::uint32_t kRescaleShift = 12, kErrorShift = 24;

  explicit FactorCodec(const RabitqParameters& parameters);

  std::uint32_t encode(const Factors& factors) const;

  double add_step() const { return add_step_; }
  double rescale_step() const { return rescale_step_; }
  double error_step() const { return error_step_; }

 private:
  double add_min_, rescale_min_;
  double add_step_, rescale_step_, error_step_;
};

}  // namespace farvec::quantization
