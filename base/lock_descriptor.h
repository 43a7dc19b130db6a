// Descriptors whose locks end with their process, whatever children it has.
#pragma once

#include <sys/types.h>

namespace farvec {

/// Owns an open file or folder for the sake of its lock (see try_lock()). A child of fork() has a
/// copy of every descriptor, and with it a share in the lock: here the child closes its copy at
/// once, and the owner gives the lock back for all that have one. In a child the destructor does
/// nothing.
class LockDescriptor {
 public:
  explicit LockDescriptor(int fd);
  ~LockDescriptor();
  LockDescriptor(const LockDescriptor&) = delete;
  LockDescriptor& operator=(const LockDescriptor&) = delete;

  int get() const { return fd_; }

 private:
  const int fd_;
  const pid_t process_;
};

}  // namespace farvec
