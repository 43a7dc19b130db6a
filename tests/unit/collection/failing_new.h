// Memory that is refused: an allocation of this thread that fails.
#pragma once

#include <cstdint>

namespace farvec::tests {

/// Under the thread sanitizer its own operator new stays: what libraries without instrumentation
/// free is told from what we free by who calls it.
#ifdef __SANITIZE_THREAD__
inline constexpr bool kRefusesMemory = false;
#else
inline constexpr bool kRefusesMemory = true;
#endif
inline constexpr const char* kNoRefusals = "the thread sanitizer's operator new refuses nothing";

/// The n-th allocation of this thread from now on (0: the next one) throws std::bad_alloc, once.
void fail_allocation(std::uint64_t n);
/// Returns whether it has failed; if not, it does not any more.
bool has_failed();
/// Of this thread, so far.
std::uint64_t allocations();

}  // namespace farvec::tests
