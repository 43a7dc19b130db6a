// Changes of a graph on pages are work that the fibers of several cores share.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

namespace farvec::paged {

class ChangeHands;

/// A SharedWork is a number of operations. Fibers of any cores do them, one after another. Any
/// thread may call everything.
class SharedWork {
 public:
  virtual ~SharedWork() = default;
  /// Returns whether there are operations that no fiber has begun.
  virtual bool has_more() const = 0;
  /// Does one operation, where one is left; called inside a fiber of the hands' core, which it
  /// suspends. It does not throw: the work keeps what went wrong for the code that waits for it.
  virtual void step(ChangeHands& hands) = 0;
};

/// A WorkQueue has the works that the cores of one graph share. The works take turns. Any thread
/// may call everything.
class WorkQueue {
 public:
  void add(std::shared_ptr<SharedWork> work);
  /// Returns the next work that has more operations; null: there is none.
  std::shared_ptr<SharedWork> next();
  /// Returns false only where next() would have found nothing. It takes no lock.
  bool any() const { return size_.load(std::memory_order_relaxed) > 0; }

 private:
  std::mutex mutex_;
  std::deque<std::shared_ptr<SharedWork>> works_;
  std::atomic<std::size_t> size_{0};  ///< relaxed: a hint, the lock publishes the works
};

}  // namespace farvec::paged
