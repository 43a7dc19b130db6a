#include "memory_node/random_id.h"

#include <sys/random.h>

#include <cerrno>

#include "base/error.h"

namespace farvec::memory_node {
namespace {

void fill_random(void* destination, std::size_t bytes) {
  // The kernel never returns fewer bytes than asked for up to 256 of them.
  if (getrandom(destination, bytes, 0) != static_cast<ssize_t>(bytes)) {
    throw SystemError(errno, "getting {} random bytes from the kernel", bytes);
  }
}

}  // namespace

LeaseId random_lease_id() {
  LeaseId id;
  fill_random(id.data(), id.size());
  return id;
}

std::uint64_t random_u64() {
  std::uint64_t value = 0;
  fill_random(&value, sizeof(value));
  return value == 0 ? 1 : value;
}

}  // namespace farvec::memory_node
