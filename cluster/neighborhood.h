// Which clusters lie near a place, while clusters are split and go. For cluster_merge.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/centroid_index.h"
#include "cluster/clustering.h"

namespace farvec::cluster {

/// Looks for former clusters, as they were, and knows which have come out of them.
class Neighborhood {
 public:
  struct Work {
    std::uint64_t distances = 0;
    std::uint64_t estimates = 0;
  };
  /// Every thread that looks has one.
  struct Scratch {
    CentroidScratch search;
    Work work;
  };

  /// Of clusters that were not changed yet.
  Neighborhood(const Clustering& former, graph::Graph centroids, unsigned threads);

  /// scratch.search.found: the nearest of the former clusters. Any threads at once.
  void find_former(const float* place, std::uint32_t wanted, Scratch& scratch) const;
  /// What has come out of the `wanted` former clusters that are nearest, or of more where nothing
  /// is left of these; without an order. Empty when no cluster is left.
  std::vector<ClusterId> find(const float* place, std::uint32_t wanted, Scratch& scratch) const;

  /// `part` is a new cluster that has come out of another one.
  void add(ClusterId from, ClusterId part);
  void remove(ClusterId cluster);

 private:
  const CentroidIndex index_;
  std::vector<ClusterId> root_;                   ///< the former cluster that each has come out of
  std::vector<std::vector<ClusterId>> branches_;  ///< the other way round
};

}  // namespace farvec::cluster
