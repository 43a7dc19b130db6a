// The stacks of all fibers of one scheduler: one mapping, a guard page below each stack.
#pragma once

#include <cstddef>

namespace farvec::coroutines {

/// The stack of a fiber that searches, in bytes, without the guard page below it. Accounts of
/// memory count it for each search in flight.
inline constexpr std::size_t kStackBytes = 64 * 1024;

/// Reserves address space for `count` stacks; pages are backed when a fiber first touches them and
/// then stay. Throws SystemError when the kernel refuses (usually RLIMIT_AS or vm.max_map_count).
class StackPool {
 public:
  /// `stack_bytes` is rounded up to whole pages; the guard page comes on top.
  StackPool(std::size_t count, std::size_t stack_bytes);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  std::size_t stack_bytes() const { return stack_bytes_; }
  std::byte* lowest(std::size_t index) const { return base_ + index * slot_bytes_ + page_bytes_; }
  std::byte* top(std::size_t index) const { return lowest(index) + stack_bytes_; }

 private:
  std::size_t page_bytes_;
  std::size_t stack_bytes_;
  std::size_t slot_bytes_;
  std::size_t mapped_bytes_;
  std::byte* base_ = nullptr;
};

}  // namespace farvec::coroutines
