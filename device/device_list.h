// Lists the memory and the devices of this machine that farvec can use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace farvec::device {

enum class DeviceKind : std::uint8_t { nvdimm, cxl, dax, rdma, disk, numa_node };

/// Returns the kind's name: "NVDIMM", "CXL", "DAX", "RDMA", "disk", "NUMA node".
const char* to_string(DeviceKind kind);

/// A FoundDevice is a device as the kernel describes it. Fields that it does not know are empty.
struct FoundDevice {
  DeviceKind kind = DeviceKind::dax;
  std::string name;  ///< "dax0.0", "pmem0", "mlx5_0", "nvme0n1", "node1"
  std::string path;  ///< "/dev/dax0.0"; empty: nothing to open
  std::string mode;  ///< "devdax", "fsdax", "system-ram", "without processors", a transport's state
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 0;
  std::optional<int> numa_node;
  std::optional<std::uint64_t> bad_blocks;
  std::optional<std::uint64_t> unsafe_shutdowns;
};

/// Lists persistent memory found by libndctl, other DAX devices found by libdaxctl, then the rest,
/// found in sysfs. A missing library or folder contributes nothing.
std::vector<FoundDevice> list_devices();

}  // namespace farvec::device
