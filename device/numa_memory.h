// Allocates memory of one NUMA node: CXL or persistent memory that the system has as its own
// (daxctl reconfigure-device --mode=system-ram).
#pragma once

#include <cstdint>

#include "base/memory.h"

namespace farvec::device {

/// Returns zeroed memory whose pages come from this node only. Throws Error when there is no such
/// node, or when it has less memory left.
HugeBuffer numa_buffer(std::uint32_t node, std::uint64_t bytes);

}  // namespace farvec::device
