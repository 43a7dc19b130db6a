#include "memory_node/backing/backing.h"

#include <fcntl.h>

#include <cerrno>
#include <fstream>
#include <limits>

#include "base/check.h"
#include "base/error.h"
#include "memory_node/backing/dram_backing.h"
#include "memory_node/backing/named_backing.h"

namespace farvec::memory_node {

std::string_view to_string(BackingKind kind) {
  switch (kind) {
    case BackingKind::dram:
      return "dram";
    case BackingKind::shm:
      return "shm";
    case BackingKind::file:
      return "file";
  }
  return "?";
}

BackingKind parse_backing_kind(std::string_view text) {
  for (const auto kind : {BackingKind::dram, BackingKind::shm, BackingKind::file}) {
    if (text == to_string(kind)) return kind;
  }
  throw Error("'{}' is not a backing; write dram, shm or file", text);
}

rpc::Descriptor Backing::read_only_descriptor() const {
  const std::string path = fmt::format("/proc/self/fd/{}", fd());
  rpc::Descriptor reopened(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!reopened.valid()) throw SystemError(errno, "opening {} read-only", description());
  return reopened;
}

std::unique_ptr<Backing> open_backing(const BackingOptions& options, const std::string& region,
                                      std::uint64_t bytes) {
  switch (options.kind) {
    case BackingKind::dram:
      return open_dram_backing(region, bytes);
    case BackingKind::shm:
      return open_shm_backing(options.path, region, bytes);
    case BackingKind::file:
      return open_file_backing(options.path, region, bytes);
  }
  FARVEC_CHECK(false, "unknown backing");
}

std::uint64_t available_memory_bytes() {
  std::ifstream meminfo("/proc/meminfo");
  std::string word;
  while (meminfo >> word) {
    std::uint64_t kib = 0;
    if (word == "MemAvailable:" && meminfo >> kib) return kib * 1024;
  }
  return std::numeric_limits<std::uint64_t>::max();  // a kernel that does not say
}

void require_memory(std::uint64_t needed, std::uint64_t available) {
  if (needed <= available) return;
  throw Error(
      "the index needs {:.1f} MiB of memory and this machine has {:.1f} MiB available; "
      "free some, use a machine with more, or --backing file",
      static_cast<double>(needed) / (1 << 20), static_cast<double>(available) / (1 << 20));
}

}  // namespace farvec::memory_node
