#include "memory_node/backing/memory_info.h"

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/error.h"
#include "base/memory.h"

namespace farvec::memory_node {

MemoryInfo parse_memory_info(std::istream& meminfo) {
  MemoryInfo memory;
  std::uint64_t free_pages = 0, promised_pages = 0, page_kib = 0;
  for (std::string line; std::getline(meminfo, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(0, colon);
    const std::uint64_t value = std::strtoull(line.c_str() + colon + 1, nullptr, 10);
    if (name == "MemAvailable") memory.available_bytes = value * 1024;
    if (name == "HugePages_Free") free_pages = value;
    if (name == "HugePages_Rsvd") promised_pages = value;
    if (name == "Hugepagesize") page_kib = value;
  }
  // Huge pages of another size are of no use to the dram backing.
  if (page_kib * 1024 == kHugePageBytes && free_pages > promised_pages) {
    memory.huge_bytes = (free_pages - promised_pages) * kHugePageBytes;
  }
  return memory;
}

MemoryInfo memory_info() {
  std::ifstream meminfo("/proc/meminfo");
  return parse_memory_info(meminfo);
}

std::uint64_t available_bytes(const MemoryInfo& memory, BackingKind kind,
                              std::span<const std::uint64_t> regions) {
  std::uint64_t available = memory.available_bytes;
  std::uint64_t huge = kind == BackingKind::dram ? memory.huge_bytes : 0;
  for (const std::uint64_t bytes : regions) {
    const std::uint64_t rounded = round_up(bytes, kHugePageBytes);
    if (rounded > huge) continue;
    huge -= rounded;
    available += bytes;
  }
  return available;
}

void require_memory(std::uint64_t needed, std::uint64_t available) {
  if (needed <= available) return;
  throw Error(
      "the index needs {:.1f} MiB of memory and this machine has {:.1f} MiB available; "
      "free some, use a machine with more, or --backing file",
      static_cast<double>(needed) / (1 << 20), static_cast<double>(available) / (1 << 20));
}

}  // namespace farvec::memory_node
