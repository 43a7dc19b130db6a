#include "cli/tier_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "rpc/address.h"

namespace farvec::cli {
namespace {

class MemoryFile {
 public:
  explicit MemoryFile(std::uint64_t bytes) : fd_(memfd_create("farvec-tier", MFD_CLOEXEC)) {
    if (fd_ < 0) throw SystemError(errno, "creating shared memory of {} bytes", bytes);
    if (ftruncate(fd_, static_cast<off_t>(bytes)) != 0) {
      const int error = errno;
      close(fd_);
      throw SystemError(error, "sizing shared memory to {} bytes", bytes);
    }
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::shared_ptr<const transport::RegionSet> region_set(transport::MappedRegion region) {
  transport::RegionSet set;
  set.push_back(std::move(region));
  return std::make_shared<const transport::RegionSet>(std::move(set));
}

std::shared_ptr<const transport::RegionSet> make_shared_memory(
    std::uint64_t bytes, const std::function<void(std::span<std::byte>)>& fill) {
  const MemoryFile file(bytes);
  {
    auto writable =
        transport::MappedRegion::map_fd(file.fd(), bytes, transport::Access::read_write);
    fill(writable.writable_bytes());
  }
  return region_set(transport::MappedRegion::map_fd(file.fd(), bytes));
}

tiers::NodeSetOptions node_set_options(const transport::TierSpec& tier,
                                              const RemoteAccess& access) {
  if (tier.path.empty()) {
    transport::TierSpec word = tier;
    word.device = {};
    throw Error("--tier {0}: name the memory node, {0}:HOST:PORT or {0}:unix:PATH",
                transport::to_string(word));
  }
  tiers::NodeSetOptions options;
  options.addresses = rpc::parse_addresses(tier.path);
  options.attach.client = "farvec";
  options.await_absent = false;
  options.attach.tier = tier;
  options.attach.tls = rpc::load_tls(access.tls);
  options.attach.cores = access.cores;
  return options;
}

}  // namespace farvec::cli
