#include "indexing/order/cluster_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "tests/unit/indexing/order/order_fixture.h"

namespace farvec::indexing {
namespace {

using testing::is_permutation_of_rows;
using testing::OrderRows;
using testing::sheared_rows;

constexpr std::size_t kGroups = 6;

/// Row i lies near (100 (i mod kGroups), 0): groups on a line, far from each other.
OrderRows rows_on_a_line(std::size_t count) {
  Random random(9);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(100 * (i % kGroups)) + static_cast<float>(random.normal()));
    values.push_back(static_cast<float>(random.normal()));
  }
  return OrderRows(values, 2);
}

std::vector<NodeId> as_they_stand(std::size_t count) {
  std::vector<NodeId> order(count);
  std::iota(order.begin(), order.end(), NodeId{0});
  return order;
}

/// The groups in the order in which `order` goes through them; fails when it comes back to one.
std::vector<std::size_t> groups_of(std::span<const NodeId> order) {
  std::vector<std::size_t> groups;
  for (const NodeId row : order) {
    if (!groups.empty() && groups.back() == row % kGroups) continue;
    groups.push_back(row % kGroups);
  }
  return groups;
}

TEST(OrderByClusters, GoesFromEachClusterToTheNearestThatIsLeft) {
  const OrderRows rows = rows_on_a_line(240);
  const auto order =
      order_by_clusters(rows.view(), as_they_stand(240), {.chunk_rows = 240, .clusters = kGroups});
  ASSERT_TRUE(is_permutation_of_rows(order, 240));
  const auto groups = groups_of(order);
  ASSERT_EQ(groups.size(), kGroups);
  const auto gap = [](std::size_t a, std::size_t b) { return a > b ? a - b : b - a; };
  for (std::size_t i = 1; i < groups.size(); ++i) {
    for (std::size_t later = i + 1; later < groups.size(); ++later) {
      EXPECT_LE(gap(groups[i - 1], groups[i]), gap(groups[i - 1], groups[later]));
    }
  }
}

TEST(OrderByClusters, BeginsAChunkWhereTheOneBeforeEnds) {
  const OrderRows rows = rows_on_a_line(480);
  const auto order =
      order_by_clusters(rows.view(), as_they_stand(480), {.chunk_rows = 240, .clusters = kGroups});
  ASSERT_TRUE(is_permutation_of_rows(order, 480));
  for (std::size_t i = 0; i < 240; ++i) EXPECT_LT(order[i], 240u);
  EXPECT_EQ(order[239] % kGroups, order[240] % kGroups);
}

TEST(OrderByClusters, GoesThroughAClusterTowardsTheNext) {
  // Three groups on a line: inside the middle one rows ascend or descend as the path does.
  std::vector<float> values;
  Random random(2);
  for (std::size_t i = 0; i < 90; ++i) {
    values.push_back(static_cast<float>(100 * (i % 3)) + static_cast<float>(random.normal()));
  }
  const OrderRows rows(values, 1);
  const auto order =
      order_by_clusters(rows.view(), as_they_stand(90), {.chunk_rows = 90, .clusters = 3});
  const auto first = std::find_if(order.begin(), order.end(), [](NodeId r) { return r % 3 == 1; });
  const std::size_t at = static_cast<std::size_t>(first - order.begin());
  if (at == 0) GTEST_SKIP() << "the path began in the middle";
  const float sign = order[at - 1] % 3 == 0 ? 1.0f : -1.0f;
  for (std::size_t i = at + 1; i < at + 30; ++i) {
    EXPECT_GE(sign * values[order[i]], sign * values[order[i - 1]]);
  }
}

TEST(OrderByClusters, DoesNotDependOnThreads) {
  const OrderRows rows = sheared_rows(1000, 6, ElementType::u8);
  const auto order = as_they_stand(1000);
  ClusterOrderOptions options{.chunk_rows = 130, .clusters = 5, .seed = 3, .threads = 1};
  const auto one = order_by_clusters(rows.view(), order, options);
  options.threads = 3;
  EXPECT_EQ(order_by_clusters(rows.view(), order, options), one);
  EXPECT_TRUE(is_permutation_of_rows(one, 1000));
}

TEST(OrderByClusters, TakesChunksOfTheOrderGiven) {
  const OrderRows rows = sheared_rows(100, 3);
  std::vector<NodeId> order = as_they_stand(100);
  std::reverse(order.begin(), order.end());
  const auto result = order_by_clusters(rows.view(), order, {.chunk_rows = 10, .clusters = 2});
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(result[i] / 10, order[i] / 10);
}

TEST(OrderByClusters, TakesFewAndEqualRows) {
  for (const std::size_t count : {0u, 1u, 3u, 11u}) {
    const OrderRows rows(std::vector<float>(count * 4, 2.5f), 4);
    EXPECT_TRUE(is_permutation_of_rows(
        order_by_clusters(rows.view(), as_they_stand(count), {.chunk_rows = 10, .clusters = 10}),
        count));
  }
}

TEST(OrderByClusters, RefusesMoreClustersThanRows) {
  const OrderRows rows = sheared_rows(10, 2);
  const auto order = as_they_stand(10);
  EXPECT_THROW(order_by_clusters(rows.view(), order, {.chunk_rows = 5, .clusters = 6}), Error);
  EXPECT_THROW(order_by_clusters(rows.view(), order, {.chunk_rows = 5, .clusters = 0}), Error);
}

}  // namespace
}  // namespace farvec::indexing
