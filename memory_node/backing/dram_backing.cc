#include "memory_node/backing/dram_backing.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/memory.h"

namespace farvec::memory_node {
namespace {

class DramBacking final : public MappedBacking {
 public:
  DramBacking(Descriptor descriptor, transport::MappedRegion region, bool huge)
      : MappedBacking(std::move(descriptor), std::move(region)), huge_(huge) {}

  std::uint64_t alignment() const override {
    return huge_ ? kHugePageBytes : static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  }
  std::string description() const override {
    return huge_ ? "dram (reserved 2 MiB pages)" : "dram (4 KiB pages, transparent huge advised)";
  }
  void seal() override {
    // FUTURE_WRITE keeps this process's own mapping writable and refuses every later one.
    add_seals(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE);
  }
  void seal_length() override { add_seals(F_SEAL_SHRINK | F_SEAL_GROW); }

 private:
  void add_seals(int seals) {
    if (fcntl(fd(), F_ADD_SEALS, seals) == 0) return;
    throw SystemError(errno, "sealing {} bytes of shared memory", size());
  }

  bool huge_;
};

Descriptor make_memfd(const std::string& region, std::uint64_t bytes, unsigned flags) {
  Descriptor memory(
      memfd_create(("farvec-" + region).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING | flags));
  if (!memory.valid()) throw SystemError(errno, "making shared memory for region '{}'", region);
  if (ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0) {
    throw SystemError(errno, "sizing region '{}' to {} bytes of shared memory", region, bytes);
  }
  return memory;
}

std::unique_ptr<Backing> open_with_pages(const std::string& region, std::uint64_t bytes,
                                         bool huge) {
  const std::uint64_t rounded = huge ? round_up(bytes, kHugePageBytes) : bytes;
  auto memory = make_memfd(region, rounded, huge ? MFD_HUGETLB : 0u);
  auto mapped = transport::MappedRegion::map_fd(memory.get(), bytes, transport::Access::read_write);
  // It is only advice: a kernel without transparent huge pages for shared memory still works.
  if (!huge) madvise(mapped.writable_bytes().data(), mapped.size(), MADV_HUGEPAGE);
  return std::make_unique<DramBacking>(std::move(memory), std::move(mapped), huge);
}

}  // namespace

std::unique_ptr<Backing> open_dram_backing(const std::string& region, std::uint64_t bytes) {
  try {
    return open_with_pages(region, bytes, true);
  } catch (const Error&) {
    // There are no reserved huge pages, or too few: mapping them failed before any was touched.
    return open_with_pages(region, bytes, false);
  }
}

}  // namespace farvec::memory_node
