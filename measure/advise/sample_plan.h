// How many rows the advisor's samples have.
#pragma once

#include <cstdint>
#include <vector>

#include "measure/advise/device/device.h"
#include "measure/advise/setting.h"

namespace farvec::measure {

/// From one sample to the next.
inline constexpr std::uint64_t kSampleStep = 4;
inline constexpr std::size_t kMostSamples = 3;

/// A quarter of `rows`, at least 100,000 and at most 1 GiB of rows, but never more than there are.
std::uint64_t default_sample(std::uint64_t rows, std::uint64_t row_bytes);

/// Ascending, each kSampleStep times the one before, the last one `largest`; at most kMostSamples,
/// and none but the last below `least`.
std::vector<std::uint64_t> sample_sizes(std::uint64_t largest, std::uint64_t least);

/// `wanted` rows, or what is affordable of them, but not less than twice those of the sample before
/// (a shorter lever says nothing about growth).
std::uint64_t cut_sample(std::uint64_t wanted, std::uint64_t before, double affordable);

/// Whether what a query counts depends on the device: where strays share reads it does.
bool counts_depend_on_device(const Setting& setting);

/// Whether an index is compared on a device: slotted pages are searched on disks alone.
bool suits(const Setting& setting, const AdviceDevice& device);

}  // namespace farvec::measure
