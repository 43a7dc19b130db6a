#include "measure/advise/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "transport/emulated/device_model.h"

namespace farvec::measure {
namespace {

/// Returns what a read of `bytes` costs. It interpolates linearly between the sizes that were
/// measured. Below the smallest a read costs as much as the smallest, above the largest the cost
/// grows in proportion.
double at_size(const std::vector<ReadCost>& costs, double bytes, double ReadCost::*member) {
  const auto above = std::find_if(costs.begin(), costs.end(),
                                  [&](const ReadCost& cost) { return cost.bytes >= bytes; });
  if (above == costs.begin()) return costs.front().*member;
  if (above == costs.end()) return costs.back().*member * bytes / costs.back().bytes;
  const ReadCost& below = *(above - 1);
  const double share = (bytes - below.bytes) / (above->bytes - below.bytes);
  return below.*member + share * ((*above).*member - below.*member);
}

/// Returns the bytes of all blocks that a read of `bytes` at any place touches, on average.
double touched_bytes(double bytes, double block) {
  return bytes + block - 1;
}

/// Returns what one of `reads` reads costs that are waited for together. Between the numbers that
/// were measured it interpolates linearly over their logarithm; beyond the largest a read costs as
/// much as there.
double at_group(const AdviceDevice& device, double bytes, double reads, double ReadCost::*member) {
  const double touched = touched_bytes(bytes, device.model.block_bytes);
  double below = 1;
  double cost = at_size(device.measured, touched, member);
  if (reads <= 1) return cost;
  for (const TogetherCosts& group : device.together) {
    const double next = at_size(group.sizes, touched, member);
    if (reads < group.reads) {
      return cost + (next - cost) * std::log(reads / below) / std::log(group.reads / below);
    }
    below = group.reads;
    cost = next;
  }
  return cost;
}

}  // namespace

double AdviceDevice::occupied_ns(double bytes, double reads) const {
  if (is_measured()) return at_group(*this, bytes, reads, &ReadCost::occupied_ns);
  return model.occupied_ns(bytes);
}

double AdviceDevice::rate_share(double in_flight) const {
  if (!is_measured() || in_flight >= depth) return 1;
  DepthShare below{0, 0};
  for (const DepthShare& entry : shallow) {
    if (entry.depth > in_flight) {
      return below.share +
             (entry.share - below.share) * (in_flight - below.depth) / (entry.depth - below.depth);
    }
    below = entry;
  }
  return below.share + (1 - below.share) * (in_flight - below.depth) / (depth - below.depth);
}

double AdviceDevice::kernel_ns(double bytes, double reads) const {
  return is_measured() ? at_group(*this, bytes, reads, &ReadCost::kernel_ns) : 0;
}

AdviceDevice AdviceDevice::at(Pace pace) const {
  AdviceDevice device = *this;
  const auto change = [pace](ReadCost& cost) {
    if (pace == Pace::fastest) cost.occupied_ns *= cost.fastest;
    if (pace == Pace::slowest) cost.occupied_ns *= cost.slowest;
  };
  for (ReadCost& cost : device.measured) change(cost);
  for (TogetherCosts& group : device.together) {
    for (ReadCost& cost : group.sizes) change(cost);
  }
  return device;
}

std::string to_string(const AdviceDevice& device) {
  return fmt::format("{} ({})", transport::to_string(device.model),
                     device.is_measured() ? "measured here" : "a model");
}

}  // namespace farvec::measure
