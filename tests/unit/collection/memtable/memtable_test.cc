#include "collection/memtable/memtable.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <tuple>

#include "base/error.h"
#include "tests/unit/collection/memtable_fixture.h"

namespace farvec::collection {
namespace {

using testing::every;
using testing::id_of;
using testing::ids_of;
using testing::link_all;
using testing::nearest_of_all;
using testing::options_for;
using testing::recall_of;
using testing::StoredRows;

std::vector<graph::Neighbor> search(const Memtable& memtable, const MemtableQuery& query) {
  MemtableScratch scratch;
  const auto found = memtable.search(query, scratch);
  return {found.begin(), found.end()};
}

class MemtableScan : public ::testing::TestWithParam<std::tuple<Metric, ElementType>> {};

TEST_P(MemtableScan, FindsTheNearestOfTheRowsThatCount) {
  const auto [metric, type] = GetParam();
  for (const std::uint32_t dimension : {1u, 7u, 33u, 100u}) {
    StoredRows rows(metric, type, dimension);
    rows.fill(1300, dimension, 5);
    StoredRows queries(metric, type, dimension);
    queries.fill(6, 99);
    Memtable memtable(options_for(rows, 1300));
    memtable.append(rows.view(), ids_of(0, 1300));
    for (const std::uint32_t count : {0u, 1u, 2u, 511u, 512u, 513u, 1300u}) {
      for (const RowSet& out : {RowSet(), every(3, count), every(1, count)}) {
        for (const std::uint32_t k : {0u, 1u, 10u, 2000u}) {
          const MemtableQuery query{
              .vector = queries.view().row(k % 6), .k = k, .count = count, .out = out};
          EXPECT_EQ(search(memtable, query), nearest_of_all(rows.view(), metric, query))
              << "dimension " << dimension << ", count " << count << ", k " << k;
        }
      }
    }
  }
}

TEST_P(MemtableScan, AGraphFindsTheNearestToo) {
  const auto [metric, type] = GetParam();
  StoredRows rows(metric, type, 19);
  rows.fill(3000, 5, 7);
  StoredRows queries(metric, type, 19);
  queries.fill(50, 6);
  Memtable memtable(options_for(rows, 3000));
  memtable.append(rows.view(), ids_of(0, 3000));
  link_all(memtable);
  ASSERT_EQ(memtable.linked(), 3000u);
  const RowSet out = every(5, 2500);
  MemtableScratch scratch;
  double recall = 0;
  for (std::size_t q = 0; q < 50; ++q) {
    const MemtableQuery query{
        .vector = queries.view().row(q), .k = 10, .list = 40, .count = 2500, .out = out};
    const auto found = memtable.search(query, scratch);
    EXPECT_GT(scratch.counts.hops, 0u) << "the graph was not searched";
    EXPECT_LT(scratch.counts.distances, 2000u);
    recall += recall_of(found, nearest_of_all(rows.view(), metric, query)) / 50;
    for (const graph::Neighbor& n : found) {
      EXPECT_LT(n.id, 2500u);
      EXPECT_FALSE(out.contains(n.id));
    }
  }
  EXPECT_GT(recall, 0.95);
}

INSTANTIATE_TEST_SUITE_P(All, MemtableScan,
                         ::testing::Values(std::tuple(Metric::l2, ElementType::f32),
                                           std::tuple(Metric::l2, ElementType::f16),
                                           std::tuple(Metric::l2, ElementType::u8),
                                           std::tuple(Metric::l2, ElementType::i8),
                                           std::tuple(Metric::inner_product, ElementType::f32),
                                           std::tuple(Metric::inner_product, ElementType::f16),
                                           std::tuple(Metric::inner_product, ElementType::u8),
                                           std::tuple(Metric::inner_product, ElementType::i8),
                                           std::tuple(Metric::cosine, ElementType::f32),
                                           std::tuple(Metric::cosine, ElementType::f16),
                                           std::tuple(Metric::hamming, ElementType::b1),
                                           std::tuple(Metric::jaccard, ElementType::b1)),
                         [](const auto& instance) {
                           return std::string(to_string(std::get<0>(instance.param))) + "_" +
                                  std::string(to_string(std::get<1>(instance.param)));
                         });

TEST(Memtable, KeepsRowsAndIdsInTheOrderInWhichTheyCame) {
  StoredRows rows(Metric::l2, ElementType::f32, 9);
  rows.fill(30, 1);
  Memtable memtable(options_for(rows, 30));
  EXPECT_EQ(memtable.size(), 0u);
  EXPECT_EQ(memtable.append(rows.slice(0, 0), {}), 0u);
  EXPECT_EQ(memtable.append(rows.slice(0, 11), ids_of(0, 11)), 0u);
  EXPECT_EQ(memtable.append(rows.slice(11, 19), ids_of(11, 19)), 11u);
  EXPECT_EQ(memtable.size(), memtable.capacity());
  for (NodeId row = 0; row < 30; ++row) {
    EXPECT_EQ(memtable.id(row), id_of(row));
    EXPECT_EQ(std::memcmp(memtable.row(row), rows.view().row(row), rows.row_bytes()), 0);
  }
}

TEST(Memtable, TakesMemoryForTheRowsThatItHas) {
  StoredRows rows(Metric::l2, ElementType::f32, 64);
  rows.fill(3000, 1);
  Memtable memtable(options_for(rows, 1'000'000));
  const std::size_t empty = memtable.dram_bytes();
  EXPECT_LT(empty, 65'536u);
  memtable.append(rows.slice(0, 3000), ids_of(0, 3000));
  const std::size_t unlinked = memtable.dram_bytes() - empty;
  EXPECT_GE(unlinked, 3000u * (64 * 4 + 8));
  EXPECT_LE(unlinked, 2 * kHugePageBytes);
  link_rest(memtable, 1);
  EXPECT_GE(memtable.dram_bytes() - empty - unlinked, 3000u * 16 * 4);
  EXPECT_LE(memtable.dram_bytes() - empty - unlinked, kHugePageBytes);
}

TEST(Memtable, CopiesRowsThatAreApart) {
  StoredRows rows(Metric::l2, ElementType::f32, 4);
  rows.fill(10, 1);
  VectorView odd = rows.slice(0, 5);
  odd.stride_bytes *= 2;
  Memtable memtable(options_for(rows, 5));
  memtable.append(odd, ids_of(0, 5));
  EXPECT_EQ(std::memcmp(memtable.row(4), rows.view().row(8), rows.row_bytes()), 0);
}

TEST(Memtable, RowsThatAreNotLinkedAreFoundBesideThoseThatAre) {
  StoredRows rows(Metric::l2, ElementType::f32, 12);
  rows.fill(4000, 3);
  Memtable memtable(options_for(rows, 4000));
  memtable.append(rows.slice(0, 3500), ids_of(0, 3500));
  link_all(memtable);
  memtable.append(rows.slice(3500, 500), ids_of(3500, 500));
  MemtableScratch scratch;
  for (NodeId row = 3500; row < 4000; row += 50) {
    const MemtableQuery query{
        .vector = rows.view().row(row), .k = 1, .list = 20, .count = 4000, .out = RowSet()};
    const auto found = memtable.search(query, scratch);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0], (graph::Neighbor{row, 0}));
    EXPECT_GT(scratch.counts.hops, 0u);
  }
}

/// A whole centre and its neighbourhood: the queries lie in the middle of it. Few enough for the
/// graph to pass, or so many that comparing with the others costs less.
TEST(Memtable, RowsThatLieTogetherHideNothing) {
  StoredRows rows(Metric::l2, ElementType::f32, 12);
  rows.fill(6000, 3);
  Memtable memtable(options_for(rows, 6000));
  memtable.append(rows.view(), ids_of(0, 6000));
  link_all(memtable);
  MemtableScratch scratch;
  for (const std::uint32_t gone : {90u, 1500u}) {
    std::vector<NodeId> near;
    const RowSet none;
    for (const auto& n :
         nearest_of_all(rows.view(), Metric::l2,
                        {.vector = rows.view().row(0), .k = gone, .count = 6000, .out = none})) {
      near.push_back(n.id);
    }
    const RowSet out = RowSet().with(near);
    double recall = 0;
    for (std::size_t q = 0; q < 20; ++q) {
      const MemtableQuery query{
          .vector = rows.view().row(near[q]), .k = 10, .list = 20, .count = 6000, .out = out};
      const auto found = memtable.search(query, scratch);
      ASSERT_EQ(found.size(), 10u);
      EXPECT_GT(scratch.counts.hops, 20u) << "the graph was not searched";
      recall += recall_of(found, nearest_of_all(rows.view(), Metric::l2, query)) / 20;
    }
    EXPECT_GT(recall, 0.95) << gone;
  }
}

/// Also the entries, and so many that the graph does not lead to the others.
TEST(Memtable, FindsTheFewThatAreLeft) {
  StoredRows rows(Metric::l2, ElementType::u8, 12);
  rows.fill(4000, 3);
  Memtable memtable(options_for(rows, 4000));
  memtable.append(rows.view(), ids_of(0, 4000));
  link_all(memtable);
  std::vector<NodeId> gone;
  for (NodeId row = 0; row < 4000; ++row) {
    if (row != 17 && row != 3001) gone.push_back(row);
  }
  const RowSet out = RowSet().with(gone);
  const MemtableQuery query{.vector = rows.view().row(5), .k = 10, .count = 4000, .out = out};
  EXPECT_EQ(search(memtable, query), nearest_of_all(rows.view(), Metric::l2, query));
  EXPECT_EQ(search(memtable, query).size(), 2u);
  const RowSet all = every(1, 4000);
  EXPECT_TRUE(search(memtable, {.vector = rows.view().row(5), .count = 4000, .out = all}).empty());
}

TEST(Memtable, GivesAllOfManyDuplicates) {
  StoredRows rows(Metric::l2, ElementType::f32, 5);
  rows.fill(3000, 3, 1);  // row 0 again and again
  Memtable memtable(options_for(rows, 3000));
  memtable.append(rows.view(), ids_of(0, 3000));
  link_all(memtable);
  for (const std::uint32_t k : {10u, 3000u, 5000u}) {
    const MemtableQuery query{
        .vector = rows.view().row(0), .k = k, .list = 20, .count = 3000, .out = RowSet()};
    const auto found = search(memtable, query);
    EXPECT_EQ(found.size(), std::min(k, 3000u));
    for (const graph::Neighbor& n : found) EXPECT_EQ(n.distance, 0);
  }
}

TEST(Memtable, SaysWhatIsOutOfRange) {
  StoredRows rows(Metric::l2, ElementType::f32, 4);
  const auto refused = [&](auto change) {
    MemtableOptions options = options_for(rows, 10);
    change(options);
    EXPECT_THROW(Memtable{options}, Error);
  };
  refused([](auto& o) { o.capacity = 0; });
  refused([](auto& o) { o.capacity = 1u << 31; });
  refused([](auto& o) { o.dimension = 0; });
  refused([](auto& o) { o.dimension = kMaxDimension + 1; });
  refused([](auto& o) { o.graph.degree = 3; });
  refused([](auto& o) { o.graph.degree = 257; });
  refused([](auto& o) { o.graph.link_list = 0; });
  refused([](auto& o) { o.graph.link_list = 10'001; });
  refused([](auto& o) { o.graph.place_rows = 10'001; });
  refused([](auto& o) {
    o.metric = Metric::cosine;
    o.type = ElementType::u8;
  });
}

TEST(MemtableDeathTest, TakesNoMoreThanItHasRoomFor) {
  StoredRows rows(Metric::l2, ElementType::f32, 4);
  rows.fill(11, 1);
  Memtable memtable(options_for(rows, 10));
  EXPECT_DEATH(memtable.append(rows.view(), ids_of(0, 11)), "has 0 of 10");
  EXPECT_DEATH(memtable.append(rows.slice(0, 3), ids_of(0, 2)), "3 rows with 2 ids");
}

}  // namespace
}  // namespace farvec::collection
