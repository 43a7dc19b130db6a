#include "device/device_list.h"

#include <daxctl/libdaxctl.h>
#include <ndctl/libndctl.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

namespace farvec::device {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSectorBytes = 512;

/// The first line of a file; empty when there is none.
std::string read_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::optional<std::int64_t> read_integer(const fs::path& file) {
  const std::string line = read_line(file);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc{} || end == line.data()) return std::nullopt;
  return value;
}

/// The kernel says -1 for no node.
std::optional<int> numa_node(std::optional<std::int64_t> said) {
  if (!said || *said < 0) return std::nullopt;
  return static_cast<int>(*said);
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored); !ignored && entry != fs::directory_iterator();
       entry.increment(ignored)) {
    found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

DeviceKind kind_of(ndctl_bus* bus) {
  const char* provider = ndctl_bus_get_provider(bus);
  return provider != nullptr && std::strcmp(provider, "CXL") == 0 ? DeviceKind::cxl
                                                                  : DeviceKind::nvdimm;
}

/// The unsafe shutdowns of all modules of the region together.
std::optional<std::uint64_t> unsafe_shutdowns_of(ndctl_region* region) {
  std::optional<std::uint64_t> sum;
  ndctl_dimm* dimm = nullptr;
  ndctl_dimm_foreach_in_region(region, dimm) {
    const long long count = ndctl_dimm_get_dirty_shutdown(dimm);
    if (count >= 0) sum = sum.value_or(0) + static_cast<std::uint64_t>(count);
  }
  return sum;
}

std::uint64_t bad_blocks_of(ndctl_namespace* space) {
  std::uint64_t count = 0;
  badblock* block = nullptr;
  ndctl_namespace_badblock_foreach(space, block) count += block->len;
  return count;
}

const char* mode_of(daxctl_dev* device) {
  return daxctl_dev_get_memory(device) != nullptr ? "system-ram" : "devdax";
}

FoundDevice described(daxctl_dev* device, FoundDevice found) {
  found.name = daxctl_dev_get_devname(device);
  found.mode = mode_of(device);
  if (found.mode == "devdax") found.path = "/dev/" + found.name;
  found.bytes = daxctl_dev_get_size(device);
  found.alignment = daxctl_dev_get_align(device);
  if (!found.numa_node) found.numa_node = numa_node(daxctl_dev_get_target_node(device));
  return found;
}

/// Describes a namespace that is a block device, or is not in use at all.
FoundDevice described(ndctl_namespace* space, FoundDevice found) {
  found.name = ndctl_namespace_get_devname(space);
  ndctl_pfn* const pfn = ndctl_namespace_get_pfn(space);
  found.mode = pfn != nullptr ? "fsdax" : "raw";
  const char* block =
      pfn != nullptr ? ndctl_pfn_get_block_device(pfn) : ndctl_namespace_get_block_device(space);
  if (block != nullptr && block[0] != '\0') found.path = std::string("/dev/") + block;
  found.bytes = pfn != nullptr ? ndctl_pfn_get_size(pfn) : ndctl_namespace_get_size(space);
  found.alignment = pfn != nullptr ? ndctl_pfn_get_align(pfn) : 0;
  return found;
}

void add_namespace(ndctl_namespace* space, const FoundDevice& common,
                   std::vector<FoundDevice>& devices) {
  ndctl_dax* const dax = ndctl_namespace_get_dax(space);
  if (dax == nullptr) {
    if (ndctl_namespace_get_size(space) > 0) devices.push_back(described(space, common));
    return;
  }
  daxctl_region* const region = ndctl_dax_get_daxctl_region(dax);
  if (region == nullptr) return;
  daxctl_dev* device = nullptr;
  daxctl_dev_foreach(region, device) devices.push_back(described(device, common));
}

void add_persistent_memory(std::vector<FoundDevice>& devices) {
  ndctl_ctx* opened = nullptr;
  if (ndctl_new(&opened) != 0) return;
  const std::unique_ptr<ndctl_ctx, decltype(&ndctl_unref)> context(opened, ndctl_unref);
  ndctl_bus* bus = nullptr;
  ndctl_bus_foreach(opened, bus) {
    ndctl_region* region = nullptr;
    ndctl_region_foreach(bus, region) {
      FoundDevice common;
      common.kind = kind_of(bus);
      common.numa_node = numa_node(ndctl_region_get_target_node(region));
      common.unsafe_shutdowns = unsafe_shutdowns_of(region);
      ndctl_namespace* space = nullptr;
      ndctl_namespace_foreach(region, space) {
        common.bad_blocks = bad_blocks_of(space);
        add_namespace(space, common, devices);
      }
    }
  }
}

/// Adds DAX devices that are not namespaces: volatile CXL memory, memory that the firmware
/// reserved.
void add_other_dax(std::vector<FoundDevice>& devices) {
  daxctl_ctx* opened = nullptr;
  if (daxctl_new(&opened) != 0) return;
  const std::unique_ptr<daxctl_ctx, decltype(&daxctl_unref)> context(opened, daxctl_unref);
  std::set<std::string> known;
  for (const FoundDevice& device : devices) known.insert(device.name);
  daxctl_region* region = nullptr;
  daxctl_region_foreach(opened, region) {
    const char* path = daxctl_region_get_path(region);
    FoundDevice common;
    common.kind =
        path != nullptr && std::strstr(path, "cxl") != nullptr ? DeviceKind::cxl : DeviceKind::dax;
    daxctl_dev* device = nullptr;
    daxctl_dev_foreach(region, device) {
      if (known.count(daxctl_dev_get_devname(device)) == 0) {
        devices.push_back(described(device, common));
      }
    }
  }
}

void add_rdma(std::vector<FoundDevice>& devices) {
  for (const fs::path& entry : entries_of("/sys/class/infiniband")) {
    FoundDevice found;
    found.kind = DeviceKind::rdma;
    found.name = entry.filename();
    // The file has the form "4: ACTIVE".
    const std::string state = read_line(entry / "ports/1/state");
    found.mode = state.substr(std::min(state.size(), state.find(':') + 2));
    found.numa_node = numa_node(read_integer(entry / "device/numa_node"));
    devices.push_back(found);
  }
}

void add_disks(std::vector<FoundDevice>& devices) {
  for (const fs::path& entry : entries_of("/sys/block")) {
    const std::int64_t sectors = read_integer(entry / "size").value_or(0);
    std::error_code ignored;
    // Loops, RAM disks and device mappers have no device of their own.
    if (sectors <= 0 || !fs::exists(entry / "device", ignored)) continue;
    FoundDevice found;
    found.kind = DeviceKind::disk;
    found.name = entry.filename();
    found.path = "/dev/" + found.name;
    found.mode = read_integer(entry / "queue/rotational").value_or(0) == 1 ? "rotating" : "flash";
    found.bytes = static_cast<std::uint64_t>(sectors) * kSectorBytes;
    found.alignment =
        static_cast<std::uint64_t>(read_integer(entry / "queue/logical_block_size").value_or(0));
    found.numa_node = numa_node(read_integer(entry / "device/numa_node"));
    devices.push_back(found);
  }
}

/// Reads bytes from a line like "Node 0 MemTotal:       24615336 kB".
std::uint64_t node_bytes(const fs::path& meminfo) {
  std::ifstream in(meminfo);
  std::string word;
  while (in >> word) {
    std::uint64_t kib = 0;
    if (word == "MemTotal:" && in >> kib) return kib * 1024;
  }
  return 0;
}

void add_numa_nodes(std::vector<FoundDevice>& devices) {
  for (const fs::path& entry : entries_of("/sys/devices/system/node")) {
    const std::string name = entry.filename();
    if (!name.starts_with("node") || name.find_first_of("0123456789") != 4) continue;
    FoundDevice found;
    found.kind = DeviceKind::numa_node;
    found.name = name;
    const std::string processors = read_line(entry / "cpulist");
    found.mode = processors.empty() ? "without processors" : "processors " + processors;
    found.bytes = node_bytes(entry / "meminfo");
    devices.push_back(found);
  }
}

}  // namespace

const char* to_string(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::nvdimm:
      return "NVDIMM";
    case DeviceKind::cxl:
      return "CXL";
    case DeviceKind::dax:
      return "DAX";
    case DeviceKind::rdma:
      return "RDMA";
    case DeviceKind::disk:
      return "disk";
    case DeviceKind::numa_node:
      break;
  }
  return "NUMA node";
}

std::vector<FoundDevice> list_devices() {
  std::vector<FoundDevice> devices;
  add_persistent_memory(devices);
  add_other_dax(devices);
  add_rdma(devices);
  add_disks(devices);
  add_numa_nodes(devices);
  return devices;
}

}  // namespace farvec::device
