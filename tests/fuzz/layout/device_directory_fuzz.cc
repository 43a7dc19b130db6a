// Any bytes at the beginning of a device are a directory whose extents lie on the device, apart
// from each other, or an Error; and any bytes behind that are the description of its first index,
// or one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "layout/device/device_directory.h"
#include "tests/fuzz/layout/device_fuzz.h"

namespace {

using namespace farvec;
using namespace farvec::layout;

void require_units(const DeviceDirectory& directory, std::vector<bool>& taken,
                   const DeviceExtent& extent) {
  FARVEC_CHECK(extent.bytes > 0 && extent.offset % kDeviceUnitBytes == 0);
  FARVEC_CHECK(extent.offset + extent.taken() <= directory.device_bytes);
  for (std::uint64_t at = extent.offset; at < extent.offset + extent.bytes;
       at += kDeviceUnitBytes) {
    FARVEC_CHECK(!taken[at / kDeviceUnitBytes]);
    taken[at / kDeviceUnitBytes] = true;
  }
}

void read_indexes(const DeviceDirectory& directory, std::span<const std::byte> rest) {
  std::vector<bool> taken(fuzz::kDeviceUnits + 1);
  taken[0] = true;
  for (const auto& index : directory.slots) {
    if (!index) continue;
    FARVEC_CHECK(!index->name.empty() && index->name.size() <= kMostDeviceNameBytes);
    require_units(directory, taken, index->description);
    for (const DeviceRegion& region : index->regions) {
      FARVEC_CHECK(region.extent.bytes >= kRegionHeaderBytes);
      require_units(directory, taken, region.extent);
    }
    DeviceIndex described = *index;
    described.description_checksum = device_checksum(rest);
    const DeviceDescription description = decode_device_description(rest, described, "fuzz");
    FARVEC_CHECK(description.checksums.size() == device_chunks(index->regions));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  std::vector<std::byte> head(kDeviceUnitBytes);
  const std::size_t first = std::min<std::size_t>(input.size(), kDeviceDirectoryBytes);
  std::memcpy(head.data(), input.data(), first);
  fuzz::mend_checksum(head);
  try {
    const auto read = read_device_directory(head, fuzz::kDeviceUnits * kDeviceUnitBytes, "fuzz");
    FARVEC_CHECK(read.directory.free_bytes() < read.directory.device_bytes);
    read_indexes(read.directory, input.subspan(first));
  } catch (const Error&) {
  }
  return 0;
}
