// A LockDescriptor holds a file lock that ends with its process, whatever children the process has.
#pragma once

#include <sys/types.h>

namespace farvec {

/// Owns an open file or folder for the sake of its lock (see try_lock()). A child of fork() gets a
/// copy of every descriptor, and with it a share in the lock. Here the child closes its copy at
/// once, and the owner gives the lock back for every process that has a copy. In a child the
/// destructor does nothing.
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
