// Groups of clusters that are there already, by how often the clusters were probed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "indexing/stored_clusters.h"

namespace farvec::indexing {

/// Other homes for the same vectors in the same clusters, and what they bring.
struct Regrouping {
  std::vector<ClusterId> homes;       ///< of every vector
  std::uint64_t requests_before = 0;  ///< of the counted probes, without what a query saves
  std::uint64_t requests_after = 0;
  std::size_t moved = 0;  ///< vectors with another home

  /// The share of requests that is saved.
  double cut() const {
    if (requests_before == 0) return 0;
    return 1 - static_cast<double>(requests_after) / static_cast<double>(requests_before);
  }
};

/// Of every vector that of its clusters which was probed most (cluster::group_by_frequency()).
/// `probes` has one count per cluster. Throws Error when it has fewer.
Regrouping regroup(const StoredClusters& stored, std::span<const std::uint64_t> probes,
                   unsigned threads);

/// By which an index of that geometry was written.
ClusterRecipe recipe_of(const layout::ClusterGeometry& geometry);

}  // namespace farvec::indexing
