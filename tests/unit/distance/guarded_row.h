// A row that begins or ends where the process may read no further.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

#include "base/check.h"
#include "base/memory.h"

namespace farvec::distance {

/// Memory between two pages that fault when they are touched.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), size_(round_up(bytes, page_)) {
    void* memory = mmap(nullptr, size_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FARVEC_CHECK(memory != MAP_FAILED);
    data_ = static_cast<std::byte*>(memory) + page_;
    FARVEC_CHECK(mprotect(data_, size_, PROT_READ | PROT_WRITE) == 0);
  }
  ~GuardedMemory() { munmap(data_ - page_, size_ + 2 * page_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  /// The first byte after a faulting page.
  std::byte* begin() { return data_; }
  std::size_t size() const { return size_; }

  /// `bytes` bytes that end `gap` bytes before the faulting page.
  std::byte* row(std::size_t bytes, std::size_t gap = 0) { return data_ + size_ - gap - bytes; }

 private:
  std::size_t page_;
  std::size_t size_;
  std::byte* data_ = nullptr;
};

}  // namespace farvec::distance
