// Reads a cluster index back: which vectors are in which cluster, and all vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/membership.h"
#include "base/memory.h"
#include "layout/cluster/cluster_layout.h"

namespace farvec::layout {

/// DecodedClusters are what a writer can write again, in any layout.
struct DecodedClusters {
  std::vector<std::uint64_t> begins;
  /// The clusters of vector v are those from begins[v] to begins[v + 1]: its home first, then the
  /// others, ascending.
  std::vector<ClusterId> clusters;
  /// The cluster in whose group each vector is; in a layout without groups, the first cluster that
  /// has it.
  std::vector<ClusterId> homes;
  HugeBuffer vectors;  ///< packed, in the order of ids

  MembershipView membership() const { return {begins, clusters}; }
};

/// `region` is the whole records region, header included. Throws Error when its bytes contradict
/// themselves or the locator.
DecodedClusters decode_clusters(const ClusterLocator& locator, std::span<const std::byte> region);

}  // namespace farvec::layout
