#include "cluster/replica_rule.h"

#include <algorithm>

namespace farvec::cluster {

ReplicaRule::ReplicaRule(const std::vector<float>& centroids, std::uint32_t dimension,
                         const Bounds& bounds)
    : centroids_(centroids),
      dimension_(dimension),
      bounds_(bounds),
      pair_(distance::pair_kernel(Metric::l2, ElementType::f32, dimension)) {}

bool ReplicaRule::is_covered(const NearCluster& candidate, ClusterId by, Chosen& chosen) const {
  ++chosen.distances;
  const float between = pair_(centroid(candidate.cluster), centroid(by), dimension_);
  return candidate.distance >= bounds_.rng_factor * bounds_.rng_factor * between;
}

/// With the relative-neighbourhood rule no chosen centroid is much nearer to another one than the
/// vector is.
ReplicaRule::Chosen ReplicaRule::choose(ClusterId own, std::span<const NearCluster> near,
                                        ClusterId* out) const {
  Chosen chosen{1, 0};
  out[0] = own;
  const float limit = near[0].distance * bounds_.closure_ratio * bounds_.closure_ratio;
  for (std::size_t i = 0; i < near.size(); ++i) {
    if (chosen.clusters == bounds_.replicas || near[i].distance > limit) break;
    if (near[i].cluster == own) continue;
    const auto covers = [&](ClusterId by) { return is_covered(near[i], by, chosen); };
    const bool is_old_direction = bounds_.only_before
                                      ? i > 0 && covers(near[i - 1].cluster)
                                      : std::any_of(out, out + chosen.clusters, covers);
    if (!is_old_direction) out[chosen.clusters++] = near[i].cluster;
  }
  return chosen;
}

}  // namespace farvec::cluster
