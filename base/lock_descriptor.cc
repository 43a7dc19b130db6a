#include "base/lock_descriptor.h"

#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

#include <mutex>
#include <vector>

namespace farvec {
namespace {

/// The descriptors that children close. Never destroyed, because threads may hold locks to the end.
struct Held {
  std::mutex mutex;
  std::vector<int> descriptors;
};

Held& held() {
  static Held* const all = [] {
    auto* const made = new Held;
    // The child begins with the mutex as the parent had it.
    pthread_atfork([] { held().mutex.lock(); }, [] { held().mutex.unlock(); },
                   [] {
                     for (const int fd : held().descriptors) close(fd);
                     held().descriptors.clear();
                     held().mutex.unlock();
                   });
    return made;
  }();
  return *all;
}

}  // namespace

LockDescriptor::LockDescriptor(int fd) : fd_(fd), process_(getpid()) {
  if (fd_ < 0) return;
  const std::lock_guard lock(held().mutex);
  held().descriptors.push_back(fd_);
}

LockDescriptor::~LockDescriptor() {
  if (fd_ < 0 || getpid() != process_) return;
  const std::lock_guard lock(held().mutex);
  std::erase(held().descriptors, fd_);
  flock(fd_, LOCK_UN);
  close(fd_);
}

}  // namespace farvec
