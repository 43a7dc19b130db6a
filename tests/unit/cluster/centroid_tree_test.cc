#include "cluster/centroid_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/unit/cluster/test_data.h"

namespace farvec::cluster {
namespace {

using testing::cloud_rows;
using testing::Rows;

TreeOptions tree(std::uint32_t centroids, unsigned threads = 2) {
  TreeOptions options;
  options.centroids = centroids;
  options.threads = threads;
  return options;
}

TEST(CentroidTree, GivesExactlyAsManyAsAskedFor) {
  const Rows rows = cloud_rows(1500, 6, 1);
  for (const std::uint32_t centroids : {1u, 2u, 31u, 32u, 33u, 67u, 500u, 1025u, 1500u}) {
    const std::vector<float> result = train_centroids(rows.view(), tree(centroids));
    EXPECT_EQ(result.size(), std::size_t{centroids} * 6);
    for (const float value : result) EXPECT_LT(std::abs(value), 200) << centroids;
  }
}

TEST(CentroidTree, OneCentroidIsTheMean) {
  const Rows rows({1, 10, 2, 20, 6, 60}, 2, ElementType::f32);
  EXPECT_EQ(train_centroids(rows.view(), tree(1)), (std::vector<float>{3, 30}));
}

TEST(CentroidTree, AsManyCentroidsAsRowsAreTheRows) {
  std::vector<float> values(200);
  std::iota(values.begin(), values.end(), 0.0f);
  std::vector<float> result = train_centroids(Rows(values, 1, ElementType::f32).view(), tree(200));
  std::sort(result.begin(), result.end());
  EXPECT_EQ(result, values);
}

TEST(CentroidTree, EqualRowsGiveEqualCentroids) {
  const Rows rows(std::vector<float>(600, 3.0f), 2, ElementType::f32);
  EXPECT_EQ(train_centroids(rows.view(), tree(150)), std::vector<float>(300, 3.0f));
}

TEST(CentroidTree, ThreadsDoNotMatterSeedsDo) {
  const Rows rows = cloud_rows(5000, 8, 2);
  TreeOptions options = tree(300, 1);
  const std::vector<float> first = train_centroids(rows.view(), options);
  options.threads = 4;
  EXPECT_EQ(train_centroids(rows.view(), options), first);
  options.seed = 2;
  EXPECT_NE(train_centroids(rows.view(), options), first);
}

TEST(Apportion, IsProportionalAndComplete) {
  EXPECT_EQ(apportion({100, 200, 300}, 6), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(apportion({1000, 1, 0, 1}, 5), (std::vector<std::uint32_t>{3, 1, 0, 1}));
  EXPECT_EQ(apportion({3, 2}, 5), (std::vector<std::uint32_t>{3, 2}));
  EXPECT_EQ(apportion({7}, 7), (std::vector<std::uint32_t>{7}));
}

TEST(Apportion, NeverExceedsASize) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> sizes(1 + random.below(32));
    std::uint64_t total = 0, filled = 0;
    for (auto& size : sizes) {
      size = random.below(2) == 0 ? random.below(5) : random.below(1000);
      total += size;
      filled += size > 0 ? 1 : 0;
    }
    if (total == 0) continue;
    const auto seats = static_cast<std::uint32_t>(filled + random.below(total - filled + 1));
    const auto shares = apportion(sizes, seats);
    std::uint64_t given = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_LE(shares[i], sizes[i]);
      EXPECT_EQ(shares[i] == 0, sizes[i] == 0);
      given += shares[i];
    }
    EXPECT_EQ(given, seats);
  }
}

}  // namespace
}  // namespace farvec::cluster
