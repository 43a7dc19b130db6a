#include "graph/vamana_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/random.h"
#include "graph/beam_search.h"
#include "graph/build_space.h"
#include "graph/reachability.h"
#include "tests/unit/graph/graph_checks.h"
#include "tests/unit/graph/test_data.h"

namespace farvec::graph {
namespace {

using testing::Answer;
using testing::expect_sound;
using testing::quiet_options;
using testing::recall;
using testing::search;

TEST(Vamana, FindsTrueNeighboursForEveryMetric) {
  const testing::Cloud cloud(3050, 12, 1);
  const VectorView data = cloud.view().part(0, 3000);
  const VectorView queries = cloud.view().part(3000, 50);
  for (Metric metric : {Metric::l2, Metric::inner_product}) {
    const Graph graph = build_vamana(data, metric, quiet_options());
    expect_sound(graph, 16);
    EXPECT_GE(recall(graph, data, metric, queries), 0.95) << to_string(metric);
  }
}

TEST(Vamana, SameGraphForAnyNumberOfThreads) {
  const testing::Cloud cloud(2000, 9, 5);
  VamanaOptions options = quiet_options();
  options.passes = 2;
  options.threads = 1;
  const Graph one = build_vamana(cloud.view(), Metric::l2, options);
  options.threads = 3;
  const Graph three = build_vamana(cloud.view(), Metric::l2, options);
  options.seed = 2;
  const Graph other = build_vamana(cloud.view(), Metric::l2, options);
  bool differs = false;
  ASSERT_EQ(one.entry, three.entry);
  for (std::size_t v = 0; v < one.count(); ++v) {
    ASSERT_TRUE(std::ranges::equal(one.neighbors(v), three.neighbors(v))) << "vertex " << v;
    differs |= !std::ranges::equal(one.neighbors(v), other.neighbors(v));
  }
  EXPECT_TRUE(differs) << "another seed should give another graph";
}

TEST(Vamana, SmallAndDegenerateSets) {
  for (std::size_t count : {0u, 1u, 2u, 3u, 17u}) {
    const testing::Cloud cloud(count, 3, 9);
    const Graph graph = build_vamana(cloud.view(), Metric::l2, quiet_options());
    EXPECT_EQ(graph.count(), count);
    expect_sound(graph, 16);
  }
  const std::vector<float> same(5000, 2.5f);
  const auto view = packed_view(same.data(), 1000, 5, ElementType::f32);
  VamanaStats stats;
  const Graph graph = build_vamana(view, Metric::l2, quiet_options(), &stats);
  expect_sound(graph, 16);
  BeamParameters parameters;
  const auto answer = search(graph, view, Metric::l2, same.data(), parameters);
  EXPECT_EQ(answer.neighbors.size(), 10u) << "duplicates of one vector are all reachable";
}

TEST(Vamana, DegreeOneStaysReachable) {
  const testing::Cloud cloud(200, 2, 4);
  VamanaOptions options = quiet_options();
  options.degree = 1;
  expect_sound(build_vamana(cloud.view(), Metric::l2, options), 1);
}

TEST(Vamana, RefusesOptionsThatMakeNoSense) {
  const testing::Cloud cloud(10, 2, 4);
  for (auto change :
       {+[](VamanaOptions& o) { o.degree = 0; }, +[](VamanaOptions& o) { o.list = 0; },
        +[](VamanaOptions& o) { o.alpha = 0.5f; }, +[](VamanaOptions& o) { o.passes = 0; }}) {
    VamanaOptions options = quiet_options();
    change(options);
    EXPECT_THROW(build_vamana(cloud.view(), Metric::l2, options), Error);
  }
}

TEST(BeamSearch, WiderFrontierTakesFewerHops) {
  const testing::Cloud cloud(3000, 12, 1);
  const Graph graph = build_vamana(cloud.view(), Metric::l2, quiet_options());
  BeamParameters parameters;
  parameters.list = 40;
  const auto narrow = search(graph, cloud.view(), Metric::l2, cloud.view().row(5), parameters);
  parameters.width = 4;
  const auto wide = search(graph, cloud.view(), Metric::l2, cloud.view().row(5), parameters);
  EXPECT_EQ(narrow.neighbors.front().id, 5u);
  EXPECT_EQ(wide.neighbors.front().id, 5u);
  EXPECT_LT(wide.counts.hops, narrow.counts.hops);
  EXPECT_GE(wide.counts.distances, narrow.counts.hops);
  EXPECT_EQ(narrow.counts.distances, narrow.counts.hops);
}

TEST(BeamSearch, FewerVerticesThanKGivesThemAll) {
  const testing::Cloud cloud(4, 3, 1);
  const Graph graph = build_vamana(cloud.view(), Metric::l2, quiet_options());
  const auto answer = search(graph, cloud.view(), Metric::l2, cloud.view().row(0), {});
  EXPECT_EQ(answer.neighbors.size(), 4u);
}

TEST(BeamSearch, NeighbourThatDoesNotExistIsDataLoss) {
  const testing::Cloud cloud(50, 3, 1);
  Graph graph = build_vamana(cloud.view(), Metric::l2, quiet_options());
  const NodeId bogus[] = {1000000};
  graph.set_neighbors(graph.entry, bogus);
  const auto answer = search(graph, cloud.view(), Metric::l2, cloud.view().row(0), {});
  EXPECT_EQ(answer.status.code(), StatusCode::data_loss);
}

/// Coordinates are products of two numbers from 0 to 1, and half of the rows are too short to be
/// near to any other.
TEST(VamanaBuilder, ShortRowsDoNotTakeTheEdgesOfLongOnes) {
  Random random(1);
  std::vector<float> values;
  for (std::size_t i = 0; i < 3 * 5000; ++i) {
    values.push_back(static_cast<float>(random.uniform() * random.uniform()));
  }
  std::vector<float> asked;
  for (std::size_t i = 0; i < 3 * 50; ++i) asked.push_back(static_cast<float>(random.uniform()));
  const VectorView rows = packed_view(values.data(), 5000, 3, ElementType::f32);
  VamanaStats stats;
  const Graph graph = build_vamana(rows, Metric::inner_product, testing::quiet_options(), &stats);
  EXPECT_GT(stats.repaired, 2000u);
  testing::expect_sound(graph, 16);
  const VectorView queries = packed_view(asked.data(), 50, 3, ElementType::f32);
  EXPECT_GE(testing::recall(graph, rows, Metric::inner_product, queries), 0.99);
}

}  // namespace
}  // namespace farvec::graph
