// Into which clusters besides its own a vector is put.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "cluster/centroid_index.h"
#include "distance/distance.h"

namespace farvec::cluster {

/// closure, closure_ratio, rng_factor and replicas of ClusteringOptions. Keeps a reference to the
/// centroids, rows of `dimension` floats, which may become more.
class ReplicaRule {
 public:
  struct Bounds {
    std::uint32_t replicas = 1;
    float closure_ratio = 1;
    float rng_factor = 1;
    /// The rule compares with the candidate before alone, whether it was chosen or not.
    bool only_before = false;
  };
  ReplicaRule(const std::vector<float>& centroids, std::uint32_t dimension, const Bounds& bounds);

  struct Chosen {
    std::uint32_t clusters = 0;   ///< of the vector, its own counted
    std::uint32_t distances = 0;  ///< between centroids that it took
  };
  /// `near` are the nearest clusters of a vector, ascending. out[0] = own, and further ones follow,
  /// at most `replicas` together.
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
