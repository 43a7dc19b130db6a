#include "coroutines/stack_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/memory.h"
#include "coroutines/sanitizer.h"

namespace farvec::coroutines {

StackPool::StackPool(std::size_t count, std::size_t stack_bytes)
    : page_bytes_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
      stack_bytes_(round_up(stack_bytes, page_bytes_)),
      slot_bytes_(stack_bytes_ + page_bytes_),
      mapped_bytes_(count * slot_bytes_) {
  void* base = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (base == MAP_FAILED) {
    throw SystemError(errno, "cannot map {} fiber stacks of {} bytes; lower the number of slots",
                      count, stack_bytes_);
  }
  base_ = static_cast<std::byte*>(base);
  for (std::size_t i = 0; i < count; ++i) {
    if (mprotect(base_ + i * slot_bytes_, page_bytes_, PROT_NONE) != 0) {
      const int error = errno;
      munmap(base_, mapped_bytes_);
      throw SystemError(error, "cannot protect the guard page of fiber stack {} of {}", i, count);
    }
  }
}

StackPool::~StackPool() {
  sanitizer::forget_memory(base_, mapped_bytes_);
  munmap(base_, mapped_bytes_);
}

}  // namespace farvec::coroutines
