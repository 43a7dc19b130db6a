#include "transport/verbs/registration.h"

#include <sys/resource.h>

#include <cerrno>
#include <string>

#include "base/error.h"

namespace farvec::transport {
namespace {

std::string locked_memory_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur) + " bytes";
}

}  // namespace

MemoryRegion register_memory(ibv_pd& domain, std::span<const std::byte> memory, int access) {
  MemoryRegion region(
      ibv_reg_mr(&domain, const_cast<std::byte*>(memory.data()), memory.size(), access));
  if (region) return region;
  throw SystemError(errno,
                    "registering {} bytes with RDMA device {}; the limit on locked memory is {} "
                    "(raise it with ulimit -l, or LimitMEMLOCK= in a unit)",
                    memory.size(), ibv_get_device_name(domain.context->device),
                    locked_memory_limit());
}

}  // namespace farvec::transport
