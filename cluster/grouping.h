// Chooses which of its clusters a vector is stored with (cluster-aware grouping, section 6.2 of the
// second-tier memory study).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/membership.h"
#include "base/types.h"

namespace farvec::cluster {

/// The home of each vector: the most frequently accessed of its clusters. Among equals it is the
/// one with most members, which can expect more accesses; among these the one with the lowest
/// number, so that the order in membership.of(v) does not matter. `frequency` has one access count
/// per cluster, or is empty when accesses were not counted.
///
/// This minimises sum over clusters j of frequency[j] * (1 + members of j whose home is not j), the
/// requests of a workload that reads the group of j with one request and each stray with another:
/// only the home's frequency is saved, and each vector chooses by itself. (Equation 4 of the study
/// prints the sum over members *in* the group, which contradicts its own greedy algorithm.) Linear
/// in time and memory; the result does not depend on `threads`. Throws Error when a cluster's
/// number is beyond `frequency`.
std::vector<ClusterId> group_by_frequency(MembershipView membership,
                                          std::span<const std::uint64_t> frequency,
                                          unsigned threads);

/// Returns that sum for a given choice of homes.
std::uint64_t count_requests(MembershipView membership, std::span<const std::uint64_t> frequency,
                             std::span<const ClusterId> homes);

}  // namespace farvec::cluster
