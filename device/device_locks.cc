#include "device/device_locks.h"

#include <fcntl.h>

#include <cerrno>

#include "base/error.h"

namespace farvec::device {
namespace {

/// Locks are on bytes that have no other meaning: the writer's, then one per slot.
constexpr std::uint64_t kWriterByte = 0;
constexpr std::uint64_t kFirstSlotByte = 1;

}  // namespace

bool DeviceLocks::set(short type, std::uint64_t first) const {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(first);
  lock.l_len = 1;
  if (fcntl(descriptor_, F_OFD_SETLK, &lock) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  throw SystemError(errno, "locking a memory device");
}

bool DeviceLocks::take_writer() {
  return set(F_WRLCK, kWriterByte);
}

bool DeviceLocks::take_reader(std::uint32_t slot) {
  return set(F_RDLCK, kFirstSlotByte + slot);
}

bool DeviceLocks::take_sole(std::uint32_t slot) {
  return set(F_WRLCK, kFirstSlotByte + slot);
}

void DeviceLocks::give_back(std::uint32_t slot) {
  (void)set(F_UNLCK, kFirstSlotByte + slot);
}

}  // namespace farvec::device
