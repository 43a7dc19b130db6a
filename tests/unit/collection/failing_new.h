// Memory that is refused: an allocation of this thread that fails.
#pragma once

#include <cstdint>

namespace farvec::tests {

/// The n-th allocation of this thread from now on (0: the next one) throws std::bad_alloc, once.
void fail_allocation(std::uint64_t n);
/// Returns whether it has failed; if not, it does not any more.
bool has_failed();
/// Of this thread, so far.
std::uint64_t allocations();

}  // namespace farvec::tests
