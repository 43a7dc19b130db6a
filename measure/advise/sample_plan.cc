#include "measure/advise/sample_plan.h"

#include <algorithm>

namespace farvec::measure {

std::uint64_t default_sample(std::uint64_t rows, std::uint64_t row_bytes) {
  constexpr std::uint64_t kLeast = 100'000;
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
  const std::uint64_t most = std::max(kLeast, kMostBytes / std::max<std::uint64_t>(row_bytes, 1));
  return std::min(std::clamp(rows / kSampleStep, kLeast, most), rows);
}

std::vector<std::uint64_t> sample_sizes(std::uint64_t largest, std::uint64_t least) {
  std::vector<std::uint64_t> sizes{largest};
  while (sizes.size() < kMostSamples && sizes.back() / kSampleStep >= least) {
    sizes.push_back(sizes.back() / kSampleStep);
  }
  std::reverse(sizes.begin(), sizes.end());
  return sizes;
}

std::uint64_t cut_sample(std::uint64_t wanted, std::uint64_t before, double affordable) {
  const std::uint64_t least = std::min(2 * before, wanted);
  if (!(affordable > static_cast<double>(least))) return least;
  return std::min(wanted, static_cast<std::uint64_t>(affordable));
}

bool counts_depend_on_device(const Setting& setting) {
  return setting.kind == layout::IndexKind::cluster &&
         setting.layout != layout::ClusterLayoutKind::coupled;
}

bool suits(const Setting& setting, const AdviceDevice& device) {
  return !setting.is_slotted() || device.is_disk();
}

}  // namespace farvec::measure
