#include "indexing/regroup_recipe.h"

#include "cluster/grouping.h"

namespace farvec::indexing {
namespace {

/// Returns the stored homes: a vector's home is its first cluster.
std::vector<ClusterId> homes_of(const MembershipView& membership) {
  std::vector<ClusterId> homes(membership.count());
  for (std::size_t v = 0; v < homes.size(); ++v) homes[v] = membership.of(v).front();
  return homes;
}

}  // namespace

Regrouping regroup(const StoredClusters& stored, std::span<const std::uint64_t> probes,
                   unsigned threads) {
  const MembershipView membership = stored.clusters.membership();
  const std::vector<ClusterId> before = homes_of(membership);
  Regrouping regrouping;
  regrouping.homes = cluster::group_by_frequency(membership, probes, threads);
  regrouping.requests_before = cluster::count_requests(membership, probes, before);
  regrouping.requests_after = cluster::count_requests(membership, probes, regrouping.homes);
  for (std::size_t v = 0; v < before.size(); ++v) {
    regrouping.moved += regrouping.homes[v] != before[v];
  }
  return regrouping;
}

ClusterRecipe recipe_of(const layout::ClusterGeometry& geometry) {
  ClusterRecipe recipe{geometry.kind, geometry.record_checksum};
  if (geometry.has_codes()) recipe.code_bits = geometry.code_bits;
  return recipe;
}

}  // namespace farvec::indexing
