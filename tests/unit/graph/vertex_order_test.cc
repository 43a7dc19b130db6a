#include "graph/vertex_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace farvec::graph {
namespace {

const OrderOptions kQuiet{.threads = 1, .quiet = true};

std::vector<NodeId> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<NodeId> ids(count);
  std::iota(ids.begin(), ids.end(), NodeId{0});
  Random random(seed);
  for (std::size_t i = count; i > 1; --i) std::swap(ids[i - 1], ids[random.below(i)]);
  return ids;
}

/// A square grid whose vertices have four neighbours, fewer at its border, numbered at random.
Graph shuffled_grid(std::size_t side) {
  const std::vector<NodeId> name = shuffled(side * side, 3);
  Graph graph(side * side, 4);
  for (std::size_t y = 0; y < side; ++y) {
    for (std::size_t x = 0; x < side; ++x) {
      const std::size_t at = y * side + x;
      if (x > 0) graph.append_neighbor(name[at], name[at - 1]);
      if (x + 1 < side) graph.append_neighbor(name[at], name[at + 1]);
      if (y > 0) graph.append_neighbor(name[at], name[at - side]);
      if (y + 1 < side) graph.append_neighbor(name[at], name[at + side]);
    }
  }
  graph.entry = name[0];
  return graph;
}

Graph random_graph(std::size_t count, std::uint32_t degree) {
  Random random(9);
  Graph graph(count, degree);
  for (std::size_t v = 0; v < count; ++v) {
    const std::uint64_t edges = random.below(degree + 1);
    for (std::uint64_t i = 0; i < edges; ++i) {
      graph.append_neighbor(v, static_cast<NodeId>(random.below(count)));
    }
  }
  graph.entry = static_cast<NodeId>(count / 2);
  return graph;
}

/// Mean bits of the differences of the sorted lists.
double bits_of_gaps(const Graph& graph) {
  double bits = 0;
  double gaps = 0;
  for (std::size_t v = 0; v < graph.count(); ++v) {
    const auto ids = graph.neighbors(v);
    for (std::size_t i = 1; i < ids.size(); ++i) {
      bits += std::bit_width(ids[i] - ids[i - 1]);
      ++gaps;
    }
  }
  return bits / gaps;
}

void expect_permutation(std::vector<NodeId> order, std::size_t count) {
  ASSERT_EQ(order.size(), count);
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(order[i], i);
}

TEST(VertexOrder, HasEveryVertexOnce) {
  for (const std::size_t count : {1, 2, 31, 32, 33, 34, 65, 1000, 4097}) {
    for (const std::uint32_t degree : {1u, 7u}) {
      expect_permutation(bisection_order(random_graph(count, degree).view(), kQuiet), count);
    }
  }
}

TEST(VertexOrder, NeighboursOfAGridComeNear) {
  const Graph grid = shuffled_grid(64);
  const Graph before = reordered(grid.view(), shuffled(grid.count(), 5), 1);
  const Graph after = reordered(grid.view(), bisection_order(grid.view(), kQuiet), 1);
  EXPECT_GT(bits_of_gaps(before), 9.5) << "4,096 vertices at random";
  EXPECT_LT(bits_of_gaps(after), 6);
}

TEST(VertexOrder, DoesNotDependOnTheThreads) {
  const Graph graph = random_graph(9000, 12);
  const auto one = bisection_order(graph.view(), {.threads = 1, .quiet = true});
  for (const unsigned threads : {2u, 3u}) {
    EXPECT_EQ(bisection_order(graph.view(), {.threads = threads, .quiet = true}), one);
  }
}

TEST(VertexOrder, VerticesWithoutEdgesStay) {
  Graph graph(100, 3);
  graph.entry = 0;
  const auto order = bisection_order(graph.view(), kQuiet);
  expect_permutation(order, 100);
}

TEST(VertexOrder, TheReorderedGraphHasTheSameEdges) {
  const Graph graph = random_graph(500, 9);
  const std::vector<NodeId> order = shuffled(500, 4);
  const Graph result = reordered(graph.view(), order, 2);
  EXPECT_EQ(order[result.entry], graph.entry);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto ids = result.neighbors(i);
    EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
    std::vector<NodeId> named(ids.begin(), ids.end());
    for (NodeId& id : named) id = order[id];
    const auto expected = graph.neighbors(order[i]);
    ASSERT_EQ(named.size(), expected.size());
    EXPECT_TRUE(std::is_permutation(named.begin(), named.end(), expected.begin()));
  }
}

}  // namespace
}  // namespace farvec::graph
