// A row that ends where the process may read no further.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

#include "base/check.h"
#include "base/memory.h"

namespace farvec::distance {

/// Memory whose last byte is followed by a page that faults when it is touched.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), size_(round_up(bytes, page_)) {
    void* memory =
        mmap(nullptr, size_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FARVEC_CHECK(memory != MAP_FAILED);
    data_ = static_cast<std::byte*>(memory);
    FARVEC_CHECK(mprotect(data_ + size_, page_, PROT_NONE) == 0);
  }
  ~GuardedMemory() { munmap(data_, size_ + page_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  /// `bytes` bytes that end `gap` bytes before the faulting page.
  std::byte* row(std::size_t bytes, std::size_t gap = 0) { return data_ + size_ - gap - bytes; }

 private:
  std::size_t page_;
  std::size_t size_;
  std::byte* data_ = nullptr;
};

}  // namespace farvec::distance
