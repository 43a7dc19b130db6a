// An Unlocked lets a part of a function that holds a lock run without it.
#pragma once

#include <mutex>

namespace farvec::collection {

/// Gives up the lock until it is destroyed, also by an exception: what is destroyed after it may
/// count on the lock.
class Unlocked {
 public:
  explicit Unlocked(std::unique_lock<std::mutex>& lock) : lock_(lock) { lock_.unlock(); }
  ~Unlocked() { lock_.lock(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  std::unique_lock<std::mutex>& lock_;
};

}  // namespace farvec::collection
