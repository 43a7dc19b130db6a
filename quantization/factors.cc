#include "quantization/factors.h"

#include <cmath>

#include "quantization/rabitq.h"

namespace farvec::quantization {
namespace {

/// `value` in steps, clamped to [0, top]; 0 when the range is a single point.
std::uint32_t in_steps(double value, double step, double top) {
  if (!(step > 0) || !(value > 0)) return 0;
  const double steps = value / step;
  return static_cast<std::uint32_t>(steps < top ? steps : top);
}

}  // namespace

FactorCodec::FactorCodec(const RabitqParameters& p)
    : add_min_(p.add_min),
      rescale_min_(p.rescale_min),
      add_step_((static_cast<double>(p.add_max) - p.add_min) / kMask),
      rescale_step_((static_cast<double>(p.rescale_max) - p.rescale_min) / kMask),
      error_step_(static_cast<double>(p.error_max) / 255) {}

std::uint32_t FactorCodec::encode(const Factors& factors) const {
  const auto add = in_steps(factors.add - add_min_ + add_step_ / 2, add_step_, kMask);
  const auto rescale =
      in_steps(factors.rescale - rescale_min_ + rescale_step_ / 2, rescale_step_, kMask);
  // The division may lose one part in a million, not a whole step.
  const double steps = error_step_ > 0 ? std::ceil(factors.error / error_step_ - 1e-6) : 0;
  const auto error = in_steps(steps, 1.0, 255);
  return add | rescale << kRescaleShift | error << kErrorShift;
}

}  // namespace farvec::quantization
