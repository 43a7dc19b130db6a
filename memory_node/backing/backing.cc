#include "memory_node/backing/backing.h"

#include <fcntl.h>

#include <cerrno>

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
    case BackingKind::devdax:
      return "devdax";
    case BackingKind::pmem:
      return "pmem";
  }
  return "?";
}

BackingKind parse_backing_kind(std::string_view text) {
  for (const auto kind : {BackingKind::dram, BackingKind::shm, BackingKind::file,
                          BackingKind::devdax, BackingKind::pmem}) {
    if (text == to_string(kind)) return kind;
  }
  throw Error("'{}' is not a backing; write dram, shm, file, devdax or pmem", text);
}

Descriptor Backing::read_only_descriptor() const {
  return reopen(O_RDONLY, "read-only");
}

Descriptor Backing::writable_descriptor() const {
  return reopen(O_RDWR, "for writing");
}

Descriptor Backing::reopen(int flags, const char* how) const {
  const std::string path = fmt::format("/proc/self/fd/{}", fd());
  Descriptor reopened(open(path.c_str(), flags | O_CLOEXEC));
  if (!reopened.valid()) throw SystemError(errno, "opening {} {}", description(), how);
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
    case BackingKind::devdax:
    case BackingKind::pmem:
      break;
  }
  FARVEC_CHECK(false, "{} is stored", to_string(options.kind));
}

}  // namespace farvec::memory_node
