#include "graph/hnsw/hnsw_builder.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "dataset/vector_set.h"
#include "graph/reachability.h"
#include "tests/unit/data_sets.h"
#include "tests/unit/graph/hnsw/hnsw_fixture.h"
#include "tests/unit/graph/test_data.h"

namespace farvec::graph {
namespace {

using testing::hnsw_recall;
using testing::HnswSource;
using testing::quiet_hnsw;
using testing::search_hnsw;

void expect_sound(const HnswGraph& graph, const HnswOptions& options) {
  for (NodeId v = 0; v < graph.count(); ++v) {
    EXPECT_EQ(graph.level(v), level_of(options.levels, v));
    EXPECT_LE(graph.level(v), graph.top());
    for (std::uint32_t layer = 0; layer <= graph.level(v); ++layer) {
      const auto row = graph.neighbors(v, layer);
      EXPECT_LE(row.size(), hnsw_degree(options.levels.m, layer));
      EXPECT_EQ(std::set<NodeId>(row.begin(), row.end()).size(), row.size()) << "vertex " << v;
      for (const NodeId id : row) {
        ASSERT_LT(id, graph.count());
        EXPECT_NE(id, v);
        EXPECT_GE(graph.level(id), layer);
      }
    }
  }
  const auto reachable = reachable_vertices(graph.base());
  EXPECT_EQ(std::count(reachable.begin(), reachable.end(), false), 0);
}

TEST(Hnsw, FindsTrueNeighboursForEveryMetric) {
  const testing::Cloud cloud(3050, 13, 1);
  VectorView all = cloud.view();
  const VectorView data = all.part(0, 3000);
  const VectorView queries = all.part(3000, 50);
  for (const Metric metric : {Metric::l2, Metric::inner_product}) {
    const HnswGraph graph = build_hnsw(data, metric, {}, quiet_hnsw());
    expect_sound(graph, quiet_hnsw());
    EXPECT_GT(hnsw_recall(graph, data, metric, queries, 50), 0.98) << to_string(metric);
  }
  std::vector<float> unit(3050 * 13);
  for (std::size_t i = 0; i < 3050; ++i) {
    distance::to_stored(cloud.view().row(i), ElementType::f32, Metric::cosine, 13, &unit[i * 13]);
  }
  all.data = reinterpret_cast<const std::byte*>(unit.data());
  const HnswGraph graph = build_hnsw(all.part(0, 3000), Metric::cosine, {}, quiet_hnsw());
  EXPECT_GT(hnsw_recall(graph, all.part(0, 3000), Metric::cosine, all.part(3000, 50), 50), 0.98);
}

TEST(Hnsw, IsTheSameForAnyNumberOfThreads) {
  const testing::Cloud cloud(2000, 8, 2);
  auto options = quiet_hnsw();
  options.threads = 1;
  const HnswGraph one = build_hnsw(cloud.view(), Metric::l2, {}, options);
  options.threads = 3;
  const HnswGraph three = build_hnsw(cloud.view(), Metric::l2, {}, options);
  EXPECT_EQ(one.entry(), three.entry());
  for (NodeId v = 0; v < one.count(); ++v) {
    for (std::uint32_t layer = 0; layer <= one.level(v); ++layer) {
      const auto a = one.neighbors(v, layer);
      const auto b = three.neighbors(v, layer);
      EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << v << " on " << layer;
    }
  }
}

TEST(Hnsw, LevelsAreThoseOfTheIds) {
  const testing::Cloud cloud(500, 4, 2);
  std::vector<NodeId> ids(500);
  for (NodeId row = 0; row < 500; ++row) ids[row] = 1'000'000 - row * 7;
  const auto options = quiet_hnsw(2);
  const HnswGraph graph = build_hnsw(cloud.view(), Metric::l2, ids, options);
  for (NodeId row = 0; row < 500; ++row) {
    EXPECT_EQ(graph.level(row), level_of(options.levels, ids[row]));
  }
}

TEST(Hnsw, NoneAndOneAndTwo) {
  for (const std::size_t count : {0u, 1u, 2u}) {
    const testing::Cloud cloud(count, 5, 1);
    const HnswGraph graph = build_hnsw(cloud.view(), Metric::l2, {}, quiet_hnsw());
    EXPECT_EQ(graph.count(), count);
    expect_sound(graph, quiet_hnsw());
    const std::vector<float> query(5, 0.0f);
    HnswSource source{graph, cloud.view(), query.data(),
                      distance::pair_kernel(Metric::l2, ElementType::f32, 5)};
    EXPECT_EQ(search_hnsw(source, 10).size(), count);
  }
}

TEST(Hnsw, FindsDuplicatesAndWhatLiesBehindThem) {
  testing::Cloud cloud(1000, 6, 4);
  cloud.values.resize(cloud.values.size() + 6 * 3000, 0.5f);
  const VectorView data = cloud.view();
  const HnswGraph graph = build_hnsw(data, Metric::l2, {}, quiet_hnsw());
  expect_sound(graph, quiet_hnsw());
  HnswSource source{graph, data, data.row(2000),
                    distance::pair_kernel(Metric::l2, ElementType::f32, 6)};
  const auto found = search_hnsw(source, 50);
  ASSERT_EQ(found.size(), 50u);
  for (const Candidate& c : found) EXPECT_EQ(c.distance, 0.0f);
  for (NodeId v = 0; v < 1000; v += 50) {
    source.query = data.row(v);
    EXPECT_EQ(search_hnsw(source, 50).front().id, v);
  }
}

TEST(Hnsw, RefusesParametersThatMakeNoSense) {
  const testing::Cloud cloud(10, 4, 1);
  for (const auto& options : {quiet_hnsw(1), quiet_hnsw(129, 400), quiet_hnsw(8, 15)}) {
    EXPECT_THROW(build_hnsw(cloud.view(), Metric::l2, {}, options), Error);
  }
}

TEST(Hnsw, FindsTheNeighboursOfRealVectors) {
  const auto folder = tests::data_set("deep20k");
  if (const auto reason = tests::no_data(folder / "base.fbin"); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  const auto base = dataset::load((folder / "base.fbin").string());
  const auto query = dataset::load((folder / "query.fbin").string());
  VectorView queries = query.view();
  queries.count = std::min<std::size_t>(queries.count, 200);
  HnswOptions options;
  options.quiet = true;
  HnswStats stats;
  const HnswGraph graph = build_hnsw(base.view(), Metric::l2, {}, options, &stats);
  const double at_40 = hnsw_recall(graph, base.view(), Metric::l2, queries, 40);
  const double at_100 = hnsw_recall(graph, base.view(), Metric::l2, queries, 100);
  RecordProperty("recall_at_40", std::to_string(at_40));
  RecordProperty("recall_at_100", std::to_string(at_100));
  RecordProperty("distances", std::to_string(stats.distances));
  RecordProperty("repaired", std::to_string(stats.repaired));
  EXPECT_GT(at_40, 0.95);
  EXPECT_GT(at_100, 0.985);
}

}  // namespace
}  // namespace farvec::graph
