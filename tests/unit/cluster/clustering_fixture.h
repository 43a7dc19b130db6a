// What tests of clustering ask every clustering.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "cluster/clustering.h"
#include "distance/distance.h"
#include "distance/reference.h"

namespace farvec::cluster::testing {

inline ClusteringOptions quiet(std::uint32_t clusters, std::uint32_t replicas = 8) {
  ClusteringOptions options;
  options.clusters = clusters;
  options.replicas = replicas;
  options.threads = 2;
  options.quiet = true;
  return options;
}

inline std::vector<std::uint64_t> own_sizes(const Clustering& clustering) {
  std::vector<std::uint64_t> sizes(clustering.count(), 0);
  const MembershipView membership = clustering.membership();
  for (std::size_t v = 0; v < membership.count(); ++v) ++sizes[membership.of(v).front()];
  return sizes;
}

/// What must hold for every data set: shapes, bounds, no cluster twice, no cluster empty.
inline void expect_sound(const Clustering& clustering, std::size_t vectors,
                         const ClusteringOptions& options) {
  ASSERT_EQ(clustering.count(), options.clusters);
  const MembershipView membership = clustering.membership();
  ASSERT_EQ(membership.count(), vectors);
  EXPECT_EQ(membership.begins.front(), 0u);
  EXPECT_EQ(membership.begins.back(), membership.clusters.size());
  for (std::size_t v = 0; v < vectors; ++v) {
    const auto of = membership.of(v);
    ASSERT_GE(of.size(), 1u) << v;
    ASSERT_LE(of.size(), options.replicas) << v;
    EXPECT_EQ(std::set<ClusterId>(of.begin(), of.end()).size(), of.size()) << v;
    for (const ClusterId c : of) ASSERT_LT(c, options.clusters);
  }
  const auto largest = static_cast<std::uint64_t>(
      std::ceil(static_cast<double>(options.balance) * static_cast<double>(vectors) /
                static_cast<double>(options.clusters)));
  for (const std::uint64_t size : own_sizes(clustering)) {
    EXPECT_GE(size, 1u);
    EXPECT_LE(size, largest);
  }
}

inline double distance_to(const Clustering& clustering, const VectorView& rows, std::size_t v,
                          ClusterId c) {
  std::vector<float> row(rows.dimension);
  distance::widen(rows.row(v), rows.type, rows.dimension, row.data());
  return distance::reference::squared_l2(
      row.data(), &clustering.centroids[c * std::size_t{clustering.space_dimension}],
      ElementType::f32, rows.dimension);
}

}  // namespace farvec::cluster::testing
