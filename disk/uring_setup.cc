#include "disk/uring_setup.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "base/check.h"
#include "base/error.h"

namespace farvec::disk {
namespace {

#if defined(IORING_SETUP_SINGLE_ISSUER) && defined(IORING_SETUP_DEFER_TASKRUN)
constexpr unsigned kDeferred = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
                               IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_R_DISABLED;
#else
constexpr unsigned kDeferred = 0;
#endif

int initialize(io_uring& ring, unsigned entries, unsigned flags) {
  io_uring_params parameters{};
  parameters.flags = flags;
  return io_uring_queue_init_params(entries, &ring, &parameters);
}

std::string why_forbidden() {
  std::ifstream file("/proc/sys/kernel/io_uring_disabled");
  std::string value;
  if (!(file >> value)) {
    return "this kernel has no sysctl kernel.io_uring_disabled, so it has no io_uring either, or a "
           "seccomp filter (a container's, a service manager's) forbids io_uring_setup";
  }
  if (value == "0") {
    return "sysctl kernel.io_uring_disabled is 0, which allows it, so the likely cause is a "
           "seccomp filter (a container's, a service manager's): allow io_uring_setup, "
           "io_uring_enter and io_uring_register in its profile";
  }
  return "sysctl kernel.io_uring_disabled is " + value +
         ": set it to 0 (1 allows it to members of the group in kernel.io_uring_group)";
}

[[noreturn]] void fail(int error) {
  if (error == EPERM || error == ENOSYS || error == EACCES) {
    throw SystemError(error, "setting up io_uring: {}", why_forbidden());
  }
  if (error == ENOMEM) {
    throw SystemError(error, "setting up io_uring: raise the limit of locked memory (ulimit -l)");
  }
  throw SystemError(error, "setting up io_uring");
}

}  // namespace

bool set_up_ring(io_uring& ring, unsigned entries, bool plain) {
  if (kDeferred != 0 && !plain) {
    const int result = initialize(ring, entries, kDeferred);
    if (result == 0) return true;
    if (result != -EINVAL) fail(-result);  // -EINVAL: the kernel does not know a flag
  }
  if (const int result = initialize(ring, entries, 0); result != 0) fail(-result);
  return false;
}

// liburing 2.3 declares io_uring_enable_rings() and does not export it.
void enable_ring(io_uring& ring) {
  const long result =
      syscall(__NR_io_uring_register, ring.ring_fd, IORING_REGISTER_ENABLE_RINGS, nullptr, 0);
  FARVEC_CHECK(result == 0, "enabling a ring failed with errno {}", errno);
}

}  // namespace farvec::disk
