// rank_partitions() says which partitions a new vertex belongs to. It is the decision of Algorithm
// 2 of Shim et al., Turbocharging Vector Databases using Modern SSDs (PVLDB 18(11), 2025), and only
// computes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace farvec::paged {

/// Is a partition that holds neighbours of a new vertex.
struct PartitionOverlap {
  std::uint32_t partition = 0;
  std::uint32_t neighbors = 0;  ///< at least one
  bool operator==(const PartitionOverlap&) const = default;
};

/// Overwrites `ranked` with the partitions of the neighbours: the one with most neighbours comes
/// first, and among equals the one with the smaller number. `tags` are the partitions of the
/// neighbours' pages plus one, 0 for a page that is in none.
///
/// The paper's loop counts for every partition there is. A partition that holds no neighbour has
/// the count 0, and could only be chosen, arbitrarily among others like it, when no partition with
/// a neighbour has an insert page. Such a vertex goes to the fallback page here: partitions without
/// a neighbour need not be looked at, and the rest of the ranking is the same.
void rank_partitions(std::span<const std::uint32_t> tags, std::vector<PartitionOverlap>& ranked);

}  // namespace farvec::paged
