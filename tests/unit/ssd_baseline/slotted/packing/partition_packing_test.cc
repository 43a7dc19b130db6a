#include "ssd_baseline/slotted/packing/partition_packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/random.h"

namespace farvec::slotted {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A graph whose vertices are in cliques of `clique`, numbered at random, with stray edges.
class Cliques {
 public:
  Cliques(std::size_t count, std::uint32_t clique, std::uint64_t seed = 1)
      : degree_(clique), clique_of_(count), degrees_(count) {
    Random random(seed);
    std::vector<NodeId> names(count);
    std::iota(names.begin(), names.end(), NodeId{0});
    for (std::size_t i = count; i > 1; --i) std::swap(names[i - 1], names[random.below(i)]);
    neighbors_.resize(count * degree_);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t first = i / clique * clique;
      clique_of_[names[i]] = i / clique;
      for (std::size_t j = first; j < std::min<std::size_t>(first + clique, count); ++j) {
        if (j != i) add(names[i], names[j]);
      }
      const NodeId stray = names[random.below(count)];
      if (stray != names[i] && i / clique != clique_of_[stray]) add(names[i], stray);
    }
  }

  AdjacencyView view() const {
    return {neighbors_.data(), degrees_.data(), degrees_.size(), degree_, 0};
  }
  std::size_t clique_of(NodeId v) const { return clique_of_[v]; }
  layout::RecordCosts costs(std::uint16_t bytes, std::uint32_t capacity) const {
    return {std::vector<std::uint16_t>(degrees_.size(), bytes), capacity};
  }

 private:
  void add(NodeId v, NodeId other) { neighbors_[v * degree_ + degrees_[v]++] = other; }

  std::uint32_t degree_;
  std::vector<std::size_t> clique_of_;
  std::vector<NodeId> neighbors_;
  std::vector<std::uint32_t> degrees_;
};

PartitionPlan plan_of(const Cliques& graph, const layout::RecordCosts& costs, std::uint32_t nodes,
                      unsigned threads = 2) {
  return pack_partitions({graph.view(), costs, nodes, 3, threads});
}

/// Every vertex is on one page that holds it, and partitions go on in order.
void expect_sound(const PartitionPlan& plan, const layout::RecordCosts& costs) {
  EXPECT_EQ(layout::pages_of(plan.pages, costs).size(), costs.count());
  ASSERT_EQ(plan.partitions.size(), plan.pages.pages());
  std::uint32_t next = 0;
  for (std::size_t p = 0; p < plan.partitions.size(); ++p) {
    if (plan.partitions[p] == next) ++next;
    EXPECT_EQ(plan.partitions[p] + 1, next) << "page " << p;
  }
  EXPECT_EQ(plan.count, next);
}

std::map<std::uint32_t, std::size_t> vertices_of_partitions(const PartitionPlan& plan) {
  std::map<std::uint32_t, std::size_t> vertices;
  for (std::size_t p = 0; p < plan.pages.pages(); ++p) {
    vertices[plan.partitions[p]] += plan.pages.page(p).size();
  }
  return vertices;
}

TEST(PackPartitions, OfOneVertexKeepsTheOrderAndFillsPages) {
  const Cliques graph(103, 8);
  const auto costs = graph.costs(10, 100);
  const PartitionPlan plan = plan_of(graph, costs, 1);
  expect_sound(plan, costs);
  std::vector<NodeId> expected(103);
  std::iota(expected.begin(), expected.end(), NodeId{0});
  EXPECT_EQ(plan.pages.ids, expected);
  EXPECT_EQ(plan.pages.pages(), 11u);
  EXPECT_EQ(plan.count, 11u);
}

TEST(PackPartitions, TakesAsManyPagesAsPartitionsNeed) {
  const Cliques graph(640, 16);
  for (const std::uint32_t nodes : {2u, 7u, 8u, 10u, 64u, 256u}) {
    const auto costs = graph.costs(10, 80);  // eight to a page
    const PartitionPlan plan = plan_of(graph, costs, nodes);
    expect_sound(plan, costs);
    std::map<std::uint32_t, std::size_t> pages;
    for (const std::uint32_t partition : plan.partitions) ++pages[partition];
    for (const auto& [partition, vertices] : vertices_of_partitions(plan)) {
      EXPECT_LE(vertices, std::max(nodes, 8u));
      EXPECT_EQ(pages[partition], (vertices + 7) / 8);
    }
  }
}

TEST(PackPartitions, PutsCliquesTogether) {
  const Cliques graph(640, 16);
  const auto costs = graph.costs(10, 160);
  const double before = layout::page_overlap(plan_of(graph, costs, 1).pages, graph.view());
  const PartitionPlan plan = plan_of(graph, costs, 16);
  expect_sound(plan, costs);
  EXPECT_GT(layout::page_overlap(plan.pages, graph.view()), 0.7);
  EXPECT_LT(before, 0.1);
}

TEST(PackPartitions, LaysALargePartitionOntoPagesByItsEdges) {
  const Cliques graph(512, 8);
  const auto costs = graph.costs(10, 80);
  const PartitionPlan plan = plan_of(graph, costs, 128);
  expect_sound(plan, costs);
  std::size_t pure = 0;
  for (std::size_t p = 0; p < plan.pages.pages(); ++p) {
    std::set<std::size_t> cliques;
    for (const NodeId id : plan.pages.page(p)) cliques.insert(graph.clique_of(id));
    pure += cliques.size() == 1 ? 1 : 0;
  }
  EXPECT_GT(pure, plan.pages.pages() / 2);
}

TEST(PackPartitions, HoldsVerticesOfDifferentSizes) {
  const Cliques graph(300, 12);
  layout::RecordCosts costs = graph.costs(10, 90);
  Random random(4);
  for (auto& bytes : costs.bytes) bytes = static_cast<std::uint16_t>(5 + random.below(40));
  for (const std::uint32_t nodes : {1u, 3u, 12u, 100u}) {
    expect_sound(plan_of(graph, costs, nodes), costs);
  }
}

TEST(PackPartitions, DoesNotDependOnThreads) {
  const Cliques graph(20000, 9);
  const auto costs = graph.costs(10, 100);
  const PartitionPlan one = plan_of(graph, costs, 32, 1);
  const PartitionPlan three = plan_of(graph, costs, 32, 3);
  EXPECT_EQ(one.pages.ids, three.pages.ids);
  EXPECT_EQ(one.pages.begins, three.pages.begins);
  EXPECT_EQ(one.partitions, three.partitions);
}

TEST(PackPartitions, TakesNoVertexAndOne) {
  const Cliques none(0, 4), one(1, 4);
  EXPECT_EQ(plan_of(none, none.costs(1, 9), 8).count, 0u);
  EXPECT_THAT(plan_of(none, none.costs(1, 9), 8).partitions, IsEmpty());
  const PartitionPlan plan = plan_of(one, one.costs(1, 9), 8);
  EXPECT_THAT(plan.pages.ids, ElementsAre(0));
  EXPECT_EQ(plan.count, 1u);
}

TEST(PackPartitions, RefusesSizesOutOfRange) {
  const Cliques graph(10, 2);
  const auto costs = graph.costs(1, 9);
  EXPECT_THROW(plan_of(graph, costs, 0), Error);
  EXPECT_THROW(plan_of(graph, costs, kMostPartitionNodes + 1), Error);
}

/// Pages of two: {0, 1} is joined by both its edges, {2, 3} by one, {4, 5} by none.
struct ThreePages {
  std::vector<NodeId> neighbors{1, 0, 3, 0, 1, 0};
  std::vector<std::uint32_t> degrees{1, 1, 1, 1, 1, 1};
  AdjacencyView graph{neighbors.data(), degrees.data(), 6, 1, 0};
  PartitionPlan plan{{{0, 2, 4, 6}, {0, 1, 2, 3, 4, 5}, {}}, {0, 1, 2}, 3};
};

TEST(InnerDegrees, CountEdgesThatEndInTheirPartition) {
  const ThreePages three;
  EXPECT_THAT(inner_degrees(three.plan, three.graph), ElementsAre(1.0, 0.5, 0.0));
}

TEST(ChooseInsertPartitions, TakesThoseOfMostInnerEdges) {
  const ThreePages three;
  const auto choose = [&](double share) {
    return choose_insert_partitions(three.plan, three.graph, share);
  };
  EXPECT_THAT(choose(0), Each(false));
  EXPECT_THAT(choose(0.34), ElementsAre(true, false, false));
  EXPECT_THAT(choose(0.6), ElementsAre(true, true, false));
  EXPECT_THAT(choose(1), Each(true));
  EXPECT_THROW(choose(-0.1), Error);
  EXPECT_THROW(choose(1.1), Error);
}

}  // namespace
}  // namespace farvec::slotted
