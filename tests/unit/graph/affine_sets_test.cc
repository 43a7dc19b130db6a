#include "graph/affine_sets.h"

#include <gtest/gtest.h>

#include <vector>

#include "distance/distance.h"
#include "graph/vamana_builder.h"
#include "tests/unit/graph/test_data.h"

namespace farvec::graph {
namespace {

VamanaOptions small_options(const AffinityOptions& affinity, unsigned threads = 2) {
  VamanaOptions options;
  options.degree = 10;
  options.list = 30;
  options.threads = threads;
  options.quiet = true;
  options.affinity = affinity;
  return options;
}

TEST(AffineSets, KeepTheNearestWithinTheThreshold) {
  AffineSets sets(2, {1.0f, 2});
  EXPECT_EQ(sets.count(), 2u);
  EXPECT_TRUE(sets.of(0).empty());
  sets.set(0, std::vector<Neighbor>{{7, 0.1f}, {5, 1.0f}, {3, 1.0f}});
  EXPECT_EQ(std::vector<NodeId>(sets.of(0).begin(), sets.of(0).end()), (std::vector<NodeId>{7, 5}));
  sets.set(0, std::vector<Neighbor>{{4, 1.5f}});
  EXPECT_TRUE(sets.of(0).empty());
  EXPECT_TRUE(AffineSets().empty());
}

TEST(AffineSets, ABuildFindsThemAtNoDistanceMore) {
  const testing::Cloud cloud(1500, 8, 3);
  VamanaStats without, with;
  const Graph plain = build_vamana(cloud.view(), Metric::l2, small_options({}), &without);
  const float threshold = 6.0f;
  const Graph graph = build_vamana(cloud.view(), Metric::l2, small_options({threshold, 8}), &with);
  EXPECT_TRUE(without.affine.empty());
  EXPECT_EQ(with.distances, without.distances);
  const auto l2 = distance::pair_kernel(Metric::l2, ElementType::f32, 8);
  std::size_t found = 0;
  for (NodeId v = 0; v < 1500; ++v) {
    ASSERT_TRUE(std::equal(graph.neighbors(v).begin(), graph.neighbors(v).end(),
                           plain.neighbors(v).begin(), plain.neighbors(v).end()));
    float before = 0;
    for (const NodeId other : with.affine.of(v)) {
      const float d = l2(cloud.view().row(v), cloud.view().row(other), 8);
      EXPECT_NE(other, v);
      EXPECT_LE(d, threshold);
      EXPECT_GE(d, before);
      before = d;
      ++found;
    }
    EXPECT_LE(with.affine.of(v).size(), 8u);
  }
  EXPECT_GT(found, 1500u);
}

TEST(AffineSets, AreTheSameForAnyNumberOfThreads) {
  const testing::Cloud cloud(1500, 8, 3);
  VamanaStats one, three;
  (void)build_vamana(cloud.view(), Metric::l2, small_options({6.0f, 8}, 1), &one);
  (void)build_vamana(cloud.view(), Metric::l2, small_options({6.0f, 8}, 3), &three);
  for (NodeId v = 0; v < 1500; ++v) {
    EXPECT_TRUE(std::equal(one.affine.of(v).begin(), one.affine.of(v).end(),
                           three.affine.of(v).begin(), three.affine.of(v).end()));
  }
}

}  // namespace
}  // namespace farvec::graph
