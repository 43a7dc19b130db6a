#include "graph/reachability.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/graph/graph_checks.h"
#include "tests/unit/graph/test_data.h"

namespace farvec::graph {
namespace {

/// Two rings of vertices, each with edges to the next ones of its ring alone.
Graph two_rings(std::size_t ring, std::uint32_t degree) {
  Graph graph(2 * ring, degree);
  for (std::size_t v = 0; v < 2 * ring; ++v) {
    const std::size_t first = v < ring ? 0 : ring;
    std::vector<NodeId> next;
    for (std::size_t i = 1; i <= degree; ++i) {
      next.push_back(static_cast<NodeId>(first + (v - first + i) % ring));
    }
    graph.set_neighbors(v, next);
  }
  graph.entry = 0;
  return graph;
}

TEST(Reachability, ALargeIslandGetsOneEdge) {
  constexpr std::size_t kRing = 5000;
  const testing::Cloud cloud(2 * kRing, 4, 1);
  const BuildSpace space(cloud.view(), Metric::l2, 1);
  Graph graph = two_rings(kRing, 4);
  EXPECT_EQ(make_reachable(graph, space, 4, graph.count()), 1u);
  testing::expect_sound(graph, 4);
}

TEST(Reachability, OnlyTheFirstVerticesWhereNoMoreAreAskedFor) {
  const testing::Cloud cloud(40, 4, 1);
  const BuildSpace space(cloud.view(), Metric::l2, 1);
  Graph graph = two_rings(20, 4);
  EXPECT_EQ(make_reachable(graph, space, 4, 20), 0u);
  EXPECT_FALSE(reachable_vertices(graph)[20]);
  for (std::size_t v = 0; v < 20; ++v) EXPECT_TRUE(reachable_vertices(graph)[v]);
}

TEST(Reachability, VerticesWithoutEdgesAreAttached) {
  const testing::Cloud cloud(50, 4, 1);
  const BuildSpace space(cloud.view(), Metric::l2, 1);
  Graph graph(50, 2);
  graph.entry = 7;
  EXPECT_EQ(make_reachable(graph, space, 2, 50), 49u);
  testing::expect_sound(graph, 2);
}

/// Vertices 0 to 16 lead to each other, and all others to 0 to 15, but nothing leads to these.
TEST(Reachability, VerticesThatAllOthersNeedKeepMostOfTheirEdges) {
  constexpr std::uint32_t kDegree = 16;
  constexpr std::size_t kCount = 2000;
  const testing::Cloud cloud(kCount, 4, 1);
  const BuildSpace space(cloud.view(), Metric::l2, 1);
  Graph graph(kCount, kDegree);
  graph.entry = 0;
  for (NodeId v = 0; v < kCount; ++v) {
    std::vector<NodeId> edges;
    for (NodeId next = 0; next <= kDegree && edges.size() < kDegree; ++next) {
      if (next != v) edges.push_back(next);
    }
    graph.set_neighbors(v, edges);
  }
  EXPECT_EQ(make_reachable(graph, space, kDegree, kCount), kCount - kDegree - 1);
  testing::expect_sound(graph, kDegree);
  for (std::size_t v = 0; v <= kDegree; ++v) {
    const auto kept = std::ranges::count_if(graph.neighbors(v), [](NodeId n) { return n <= 16; });
    EXPECT_GE(kept, 14) << "an eighth is given up";
  }
}

}  // namespace
}  // namespace farvec::graph
