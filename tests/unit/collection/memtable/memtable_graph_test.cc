#include "collection/memtable/memtable_graph.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "dataset/vector_set.h"
#include "graph/reachability.h"
#include "tests/unit/collection/memtable_fixture.h"
#include "tests/unit/data_sets.h"

namespace farvec::collection {
namespace {

using testing::every;
using testing::nearest_of_all;
using testing::recall_of;
using testing::StoredRows;

MemtableGraphOptions small() {
  return {.degree = 12, .link_list = 40, .place_rows = 32};
}

void link(MemtableGraph& graph, std::uint32_t count) {
  LinkScratch scratch;
  while (graph.link_next(count, scratch)) {
  }
  ASSERT_EQ(graph.linked(), count);
}

/// With a list as long as the graph a search ends when it has met all that it can reach.
std::set<NodeId> reachable(const MemtableGraph& graph, const VectorView& rows) {
  MemtableScratch scratch;
  const auto count = static_cast<std::uint32_t>(rows.count);
  graph.search({.vector = rows.row(0), .list = count, .count = count, .out = RowSet()}, scratch);
  std::set<NodeId> found;
  for (const graph::Candidate& c : scratch.met) found.insert(c.id);
  return found;
}

TEST(MemtableGraph, AWayLeadsToEveryRow) {
  for (const Metric metric : {Metric::l2, Metric::inner_product, Metric::cosine}) {
    for (const std::size_t repeat : {0u, 2u, 1u}) {
      StoredRows rows(metric, ElementType::f32, 6);
      rows.fill(2000, 8, repeat);
      MemtableGraph graph(rows.view(), metric, small());
      link(graph, 2000);
      EXPECT_EQ(reachable(graph, rows.view()).size(), 2000u)
          << to_string(metric) << ", repeat " << repeat;
    }
  }
}

TEST(MemtableGraph, AWayLeadsToEveryRowWithTheSmallestDegree) {
  StoredRows rows(Metric::l2, ElementType::u8, 3);
  rows.fill(3000, 8, 2);
  MemtableGraph graph(rows.view(), Metric::l2, {.degree = 4, .link_list = 1});
  link(graph, 3000);
  EXPECT_EQ(reachable(graph, rows.view()).size(), 3000u);
}

/// Distances of such rows are infinite or no numbers, which no search keeps.
TEST(MemtableGraph, LinksRowsThatAreTooFarApart) {
  std::vector<float> rows(500 * 4);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i % 3 == 0 ? 3e38f : -3e38f;
  const VectorView view = packed_view(rows.data(), 500, 4, ElementType::f32);
  for (const Metric metric : {Metric::l2, Metric::inner_product}) {
    MemtableGraph graph(view, metric, small());
    link(graph, 500);
  }
}

TEST(MemtableGraph, LinksOnlyWhatIsThere) {
  StoredRows rows(Metric::l2, ElementType::f32, 6);
  rows.fill(100, 8);
  MemtableGraph graph(rows.view(), Metric::l2, small());
  LinkScratch scratch;
  EXPECT_FALSE(graph.link_next(0, scratch));
  EXPECT_EQ(graph.linked(), 0u);
  link(graph, 50);
  EXPECT_FALSE(graph.link_next(50, scratch));
}

TEST(MemtableGraph, PaysFromWhereAListOfTheUsualLengthCostsLessThanAllRows) {
  EXPECT_EQ(measured_place_rows(128), 20u + 13'000 / 218);
  EXPECT_LT(measured_place_rows(4 * kMaxDimension), 25u);
  StoredRows rows(Metric::l2, ElementType::u8, 4000);
  rows.fill(10, 8);
  MemtableGraph graph(rows.view(), Metric::l2, {.degree = 4, .link_list = 4});
  EXPECT_EQ(graph.pays_from(), measured_place_rows(4000) * kMemtableList);
}

TEST(MemtableGraph, ACopyHasItsEdges) {
  for (const std::uint32_t count : {1u, 2u, 700u}) {
    StoredRows rows(Metric::l2, ElementType::f32, 6);
    rows.fill(count, 8, 3);
    MemtableGraph graph(rows.view(), Metric::l2, small());
    link(graph, count);
    const graph::Graph copy = graph.copy();
    ASSERT_EQ(copy.count(), count);
    EXPECT_EQ(copy.entry, 0u);
    const std::vector<bool> found = graph::reachable_vertices(copy);
    EXPECT_EQ(std::count(found.begin(), found.end(), true), count);
  }
}

TEST(MemtableGraph, PassesThroughWhatDoesNotCount) {
  StoredRows rows(Metric::l2, ElementType::f32, 6);
  rows.fill(2000, 8);
  MemtableGraph graph(rows.view(), Metric::l2, small());
  link(graph, 2000);
  const RowSet out = every(2, 1000);
  MemtableScratch scratch;
  graph.search({.vector = rows.view().row(3), .list = 2000, .count = 1000, .out = out}, scratch);
  EXPECT_EQ(scratch.met.size(), 500u);
  for (const graph::Candidate& c : scratch.met) {
    EXPECT_TRUE(c.id < 1000 && c.id % 2 == 1) << c.id;
  }
}

TEST(MemtableGraph, PaysForManyRowsAndShortLists) {
  StoredRows rows(Metric::l2, ElementType::f32, 6);
  rows.fill(2000, 8);
  MemtableGraph graph(rows.view(), Metric::l2, small());
  const auto pays = [&](std::uint32_t list, std::uint32_t count, const RowSet& out) {
    return graph.pays({.k = 1, .list = list, .count = count, .out = out});
  };
  EXPECT_FALSE(pays(1, 2000, {}));
  link(graph, 1900);
  EXPECT_TRUE(pays(10, 2000, {}));
  EXPECT_TRUE(pays(10, 1900, {}));
  EXPECT_FALSE(pays(10, 0, {}));
  EXPECT_FALSE(pays(10, 100, {}));
  EXPECT_FALSE(pays(1000, 2000, {}));
  EXPECT_FALSE(pays(10, 2000, every(1, 2000)));
  EXPECT_FALSE(pays(4'000'000'000u, 2000, {}));
}

/// On real vectors, at a list of 100: a graph of the project over all of these rows finds more than
/// 0.99 there.
TEST(MemtableGraph, FindsTheNearestOfRealVectors) {
  const auto folder = tests::data_set("deep20k");
  if (const auto reason = tests::no_data(folder); !reason.empty()) GTEST_SKIP() << reason;
  const dataset::VectorSet rows =
      dataset::load((folder / "base.fbin").string(), {.max_rows = 8000});
  const dataset::VectorSet queries =
      dataset::load((folder / "query.fbin").string(), {.max_rows = 200});
  MemtableGraph graph(rows.view(), Metric::l2, {});
  link(graph, 8000);
  MemtableScratch scratch;
  double recall = 0;
  for (std::size_t q = 0; q < 200; ++q) {
    const MemtableQuery query{
        .vector = queries.view().row(q), .list = 100, .count = 8000, .out = RowSet()};
    graph.search(query, scratch);
    std::vector<graph::Neighbor> found;
    for (const auto& c : std::span(scratch.met).first(10)) found.push_back({c.id, c.distance});
    recall += recall_of(found, nearest_of_all(rows.view(), Metric::l2, query)) / 200;
  }
  EXPECT_GT(recall, 0.99);
}

void link_by(std::size_t threads, MemtableGraph& graph, std::uint32_t count) {
  std::vector<std::thread> linking;
  for (std::size_t t = 0; t < threads; ++t) {
    linking.emplace_back([&] {
      LinkScratch scratch;
      while (graph.linked() < count) {
        if (!graph.link_next(count, scratch)) std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : linking) thread.join();
  ASSERT_EQ(graph.linked(), count);
}

TEST(MemtableGraph, SeveralThreadsLinkEveryRowOnce) {
  for (const std::size_t repeat : {0u, 1u}) {
    StoredRows rows(Metric::l2, ElementType::f32, 6);
    rows.fill(3000, 8, repeat);
    MemtableGraph graph(rows.view(), Metric::l2, small());
    link_by(4, graph, 3000);
    EXPECT_EQ(reachable(graph, rows.view()).size(), 3000u);
  }
}

/// More threads than processors, so that now and then one waits in the middle of a row while the
/// others go on: they must leave a parent for it.
TEST(MemtableGraph, AThreadThatWaitsStillFindsAParent) {
  StoredRows rows(Metric::l2, ElementType::u8, 2);
  rows.fill(200, 8);
  for (int repeat = 0; repeat < 300; ++repeat) {
    MemtableGraph graph(rows.view(), Metric::l2, {.degree = 4, .link_list = 1});
    link_by(6, graph, 200);
  }
}

}  // namespace
}  // namespace farvec::collection
