// A Neighborhood finds the clusters near a place, while clusters are split and go. It is for
// cluster_merge.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/centroid_index.h"
#include "cluster/clustering.h"

namespace farvec::cluster {

/// Searches the former clusters with their former centroids, and knows which clusters have come out
/// of them.
class Neighborhood {
 public:
  struct Work {
    std::uint64_t distances = 0;
    std::uint64_t estimates = 0;
  };
  /// Each thread that searches needs one.
  struct Scratch {
    CentroidScratch search;
    Work work;
  };

  /// For clusters that were not changed yet.
  Neighborhood(const Clustering& former, graph::Graph centroids, unsigned threads);

  /// Sets scratch.search.found to the nearest former clusters. Several threads may call it at once.
  void find_former(const float* place, std::uint32_t wanted, Scratch& scratch) const;
  /// Returns the clusters that have come out of the `wanted` nearest former clusters, or of more
  /// where nothing is left of these; in any order. Empty when no cluster is left.
  std::vector<ClusterId> find(const float* place, std::uint32_t wanted, Scratch& scratch) const;

  /// `part` is a new cluster that has come out of another one.
  void add(ClusterId from, ClusterId part);
  void remove(ClusterId cluster);

 private:
  const CentroidIndex index_;
  std::vector<ClusterId> root_;  ///< the former cluster from which each has come
  /// The clusters that have come out of each former one.
  std::vector<std::vector<ClusterId>> branches_;
};

}  // namespace farvec::cluster
