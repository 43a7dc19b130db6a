// A StackPool has the stacks of all fibers of one scheduler: one mapping, with a guard page below
// each stack.
#pragma once

#include <cstddef>

#include "base/memory.h"

namespace farvec::coroutines {

/// Bytes of the stack of a fiber that searches, without the guard page below it. Memory plans count
/// it for each search in flight.
inline constexpr std::size_t kStackBytes = 64 * 1024;

/// Reserves address space for `count` stacks, each of which loses less than a page at its top.
/// Pages are backed when a fiber first touches them and then stay. Throws SystemError when the
/// kernel refuses (usually because of RLIMIT_AS or vm.max_map_count).
class StackPool {
 public:
  /// `stack_bytes` is rounded up to whole pages; the guard page comes on top.
  StackPool(std::size_t count, std::size_t stack_bytes);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  std::size_t stack_bytes() const { return stack_bytes_; }
  std::byte* lowest(std::size_t index) const { return base_ + index * slot_bytes_ + page_bytes_; }
  /// The top is less than a page below the stack's end, at another place in its page for each
  /// stack.
  std::byte* top(std::size_t index) const { return lowest(index) + stack_bytes_ - colour(index); }

 private:
  /// Without it, the frames of all fibers would share the few sets of the nearest cache that belong
  /// to one place in a page, and evict each other. Steps of about the golden ratio of a page spread
  /// any number of stacks evenly.
  std::size_t colour(std::size_t index) const {
    const std::size_t lines = page_bytes_ / kCacheLineBytes;
    const std::size_t step = (lines * 39 / 64) | 1u;  // odd, so that all lines are used in turn
    return index * step % lines * kCacheLineBytes;
  }

  std::size_t page_bytes_;
  std::size_t stack_bytes_;
  std::size_t slot_bytes_;
  std::size_t mapped_bytes_;
  std::byte* base_ = nullptr;
};

}  // namespace farvec::coroutines
