#include "tests/unit/collection/failing_new.h"

#include <cstdlib>
#include <new>

namespace farvec::tests {
namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};

thread_local std::uint64_t allocations_made = 0;
thread_local std::uint64_t allocation_to_fail = kNever;
thread_local bool allocation_failed = false;

[[maybe_unused]] void* allocate(std::size_t bytes) {
  if (allocations_made++ == allocation_to_fail) {
    allocation_failed = true;
    throw std::bad_alloc();
  }
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void fail_allocation(std::uint64_t n) {
  allocation_failed = false;
  allocation_to_fail = allocations_made + n;
}

bool has_failed() {
  allocation_to_fail = kNever;
  return allocation_failed;
}

std::uint64_t allocations() {
  return allocations_made;
}

}  // namespace farvec::tests

#ifndef __SANITIZE_THREAD__

// Not inlined: or compilers warn of free() for what `new` has returned.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return farvec::tests::allocate(bytes);
}
// Paired with the same delete: libraries that ask so do without where there is none.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

#endif
