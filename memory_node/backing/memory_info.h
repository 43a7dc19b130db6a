// These functions find out how much memory the machine has left, and whether an index fits into it.
#pragma once

#include <cstdint>
#include <istream>
#include <span>

#include "memory_node/backing/backing.h"

namespace farvec::memory_node {

struct MemoryInfo {
  /// Ordinary pages that can be taken without swapping (MemAvailable). It is unlimited when the
  /// kernel does not say.
  std::uint64_t available_bytes = std::uint64_t{1} << 62;
  /// Reserved 2 MiB pages that are neither taken nor promised. MemAvailable does not include them.
  std::uint64_t huge_bytes = 0;
};

/// Reads the text of /proc/meminfo; what is missing keeps its default.
MemoryInfo parse_memory_info(std::istream& meminfo);

/// Returns the memory that this machine has now.
MemoryInfo memory_info();

/// Returns what regions of these sizes, opened in this order, can take. A region is as a whole in
/// reserved huge pages (dram only) or in ordinary ones, so the pool counts as far as it is used.
std::uint64_t available_bytes(const MemoryInfo& memory, BackingKind kind,
                              std::span<const std::uint64_t> regions);

/// Throws Error saying both figures when `needed` exceeds `available`.
void require_memory(std::uint64_t needed, std::uint64_t available);

}  // namespace farvec::memory_node
