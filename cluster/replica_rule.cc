#include "cluster/replica_rule.h"

namespace farvec::cluster {

ReplicaRule::ReplicaRule(const std::vector<float>& centroids, std::uint32_t dimension,
                         const Bounds& bounds)
    : centroids_(centroids),
      dimension_(dimension),
      bounds_(bounds),
      pair_(distance::pair_kernel(Metric::l2, ElementType::f32, dimension)) {}

/// By the relative-neighbourhood rule no chosen centroid is much nearer to another one than the
/// vector is.
ReplicaRule::Chosen ReplicaRule::choose(ClusterId own, std::span<const NearCluster> near,
                                        ClusterId* out) const {
  Chosen chosen{1, 0};
  out[0] = own;
  const float limit = near[0].distance * bounds_.closure_ratio * bounds_.closure_ratio;
  const float factor = bounds_.rng_factor * bounds_.rng_factor;
  for (const NearCluster& candidate : near) {
    if (chosen.clusters == bounds_.replicas || candidate.distance > limit) break;
    if (candidate.cluster == own) continue;
    bool is_new_direction = true;
    for (std::uint32_t i = 0; i < chosen.clusters && is_new_direction; ++i) {
      ++chosen.distances;
      is_new_direction = candidate.distance <
                         factor * pair_(centroid(candidate.cluster), centroid(out[i]), dimension_);
    }
    if (is_new_direction) out[chosen.clusters++] = candidate.cluster;
  }
  return chosen;
}

}  // namespace farvec::cluster
