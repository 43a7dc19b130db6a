// A ReplicaRule decides into which clusters besides its own a vector is put.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "cluster/centroid_index.h"
#include "distance/distance.h"

namespace farvec::cluster {

/// Has closure, closure_ratio, rng_factor and replicas of ClusteringOptions. Keeps a reference to
/// the centroids, rows of `dimension` floats, whose number may grow.
class ReplicaRule {
 public:
  struct Bounds {
    std::uint32_t replicas = 1;
    float closure_ratio = 1;
    float rng_factor = 1;
    /// The rule compares only with the candidate before, whether that was chosen or not.
    bool only_before = false;
  };
  ReplicaRule(const std::vector<float>& centroids, std::uint32_t dimension, const Bounds& bounds);

  struct Chosen {
    std::uint32_t clusters = 0;   ///< clusters of the vector, including its own
    std::uint32_t distances = 0;  ///< distances between centroids that were computed
  };
  /// `near` has the nearest clusters of a vector, ascending. Sets out[0] = own, followed by further
  /// clusters, at most `replicas` together.
  Chosen choose(ClusterId own, std::span<const NearCluster> near, ClusterId* out) const;

 private:
  bool is_covered(const NearCluster& candidate, ClusterId by, Chosen& chosen) const;
  const float* centroid(ClusterId c) const { return &centroids_[c * std::size_t{dimension_}]; }

  const std::vector<float>& centroids_;
  const std::uint32_t dimension_;
  const Bounds bounds_;
  const distance::PairKernel pair_;
};

}  // namespace farvec::cluster
