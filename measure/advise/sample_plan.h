// Decides how many rows the advisor's samples have.
#pragma once

#include <cstdint>
#include <vector>

#include "measure/advise/device/device.h"
#include "measure/advise/setting.h"

namespace farvec::measure {

/// Factor from the rows of one sample to those of the next.
inline constexpr std::uint64_t kSampleStep = 4;
inline constexpr std::size_t kMostSamples = 3;

/// Returns a quarter of `rows`, at least 100,000 and at most 1 GiB of rows, but never more than
/// there are.
std::uint64_t default_sample(std::uint64_t rows, std::uint64_t row_bytes);

/// Returns ascending sizes, each kSampleStep times the one before, the last one `largest`. There
/// are at most kMostSamples, and only the last may be below `least`.
std::vector<std::uint64_t> sample_sizes(std::uint64_t largest, std::uint64_t least);

/// Returns `wanted` rows, or as many of them as are affordable, but not less than twice the rows of
/// the sample before (a smaller step says nothing about growth).
std::uint64_t cut_sample(std::uint64_t wanted, std::uint64_t before, double affordable);

/// Returns true when what a query counts depends on the device, which is so where strays share
/// reads.
bool counts_depend_on_device(const Setting& setting);

/// Returns true when an index is compared on a device: slotted pages are searched on disks only.
bool suits(const Setting& setting, const AdviceDevice& device);

}  // namespace farvec::measure
