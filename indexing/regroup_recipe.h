// regroup() groups the clusters of a stored index again, by how often each was probed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "indexing/stored_clusters.h"

namespace farvec::indexing {

/// A Regrouping gives other homes for the same vectors in the same clusters, and says what they
/// save.
struct Regrouping {
  std::vector<ClusterId> homes;       ///< homes[v] is that of vector v
  std::uint64_t requests_before = 0;  ///< counted probes, without what one query saves
  std::uint64_t requests_after = 0;
  std::size_t moved = 0;  ///< vectors with another home

  /// Returns the share of requests that is saved.
  double cut() const {
    if (requests_before == 0) return 0;
    return 1 - static_cast<double>(requests_after) / static_cast<double>(requests_before);
  }
};

/// Gives every vector that of its clusters as its home which was probed most
/// (cluster::group_by_frequency()). `probes` has one count per cluster. Throws Error when it has
/// fewer.
Regrouping regroup(const StoredClusters& stored, std::span<const std::uint64_t> probes,
                   unsigned threads);

/// Returns the recipe with which an index of that geometry was written.
ClusterRecipe recipe_of(const layout::ClusterGeometry& geometry);

}  // namespace farvec::indexing
