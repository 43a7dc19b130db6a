// These functions return numbers from the kernel that cannot be guessed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace farvec::memory_node {

using LeaseId = std::array<std::byte, 16>;

LeaseId random_lease_id();
/// Returns a number that is never 0.
std::uint64_t random_u64();

}  // namespace farvec::memory_node
