#include "cluster/centroid_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "distance/reference.h"
#include "tests/unit/cluster/test_data.h"

namespace farvec::cluster {
namespace {

using testing::cloud_rows;
using testing::clouds;
using ::testing::HasSubstr;
using testing::Rows;

CentroidIndex make_index(const std::vector<float>& centroids, std::uint32_t dimension,
                         ElementType type = ElementType::f32, Metric metric = Metric::l2,
                         bool scans = false) {
  const std::uint32_t space = dimension + (metric == Metric::inner_product ? 1 : 0);
  return CentroidIndex({metric, type, dimension, space, centroids,
                        build_centroid_graph(centroids, space, {1, 2}), scans, false},
                       2);
}

std::vector<NearCluster> nearest(const std::vector<float>& centroids, const float* query,
                                 std::uint32_t dimension, std::uint32_t probe) {
  std::vector<NearCluster> all;
  for (ClusterId c = 0; c < centroids.size() / dimension; ++c) {
    const double d = distance::reference::squared_l2(query, &centroids[c * std::size_t{dimension}],
                                                     ElementType::f32, dimension);
    all.push_back({c, static_cast<float>(d)});
  }
  std::sort(all.begin(), all.end(), [](const NearCluster& a, const NearCluster& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.cluster < b.cluster;
  });
  all.resize(std::min<std::size_t>(all.size(), probe));
  return all;
}

double overlap(const std::vector<NearCluster>& found, const std::vector<NearCluster>& truth) {
  std::size_t hits = 0;
  for (const NearCluster& near : truth) {
    hits += std::any_of(found.begin(), found.end(),
                        [&](const NearCluster& f) { return f.cluster == near.cluster; })
                ? 1
                : 0;
  }
  return static_cast<double>(hits) / static_cast<double>(truth.size());
}

class CentroidSearch : public ::testing::TestWithParam<bool> {};

TEST_P(CentroidSearch, FindsTheNearestClusters) {
  constexpr std::uint32_t kDimension = 32;
  const std::vector<float> centroids = clouds(4000, kDimension, 1, 40);
  const CentroidIndex index =
      make_index(centroids, kDimension, ElementType::f32, Metric::l2, GetParam());
  const std::vector<float> queries = clouds(200, kDimension, 1, 40);
  CentroidScratch scratch;
  for (const std::uint32_t probe : {1u, 8u, 64u, 512u}) {
    double recall = 0;
    for (std::size_t q = 0; q < 200; ++q) {
      const float* query = &queries[q * kDimension];
      index.search(query, probe, scratch);
      ASSERT_EQ(scratch.found.size(), probe);
      EXPECT_TRUE(std::is_sorted(
          scratch.found.begin(), scratch.found.end(),
          [](const NearCluster& a, const NearCluster& b) { return a.distance < b.distance; }));
      recall += overlap(scratch.found, nearest(centroids, query, kDimension, probe)) / 200;
    }
    EXPECT_GE(recall, 0.98) << probe;
  }
}

/// One coordinate of so many times the spread of the others.
std::vector<float> with_a_wide_coordinate(std::size_t count, std::uint32_t dimension, float spread,
                                          std::uint64_t seed) {
  Random random(seed);
  std::vector<float> rows(count * dimension);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = (i % dimension == 0 ? spread : 1.0f) * static_cast<float>(random.normal());
  }
  return rows;
}

TEST_P(CentroidSearch, FindsTheNearestClustersWhereACoordinateIsWide) {
  constexpr std::uint32_t kDimension = 32;
  for (const float spread : {100.0f, 10'000.0f}) {
    const auto centroids = with_a_wide_coordinate(4000, kDimension, spread, 1);
    const CentroidIndex index =
        make_index(centroids, kDimension, ElementType::f32, Metric::l2, GetParam());
    const auto queries = with_a_wide_coordinate(100, kDimension, spread, 2);
    CentroidScratch scratch;
    for (const std::uint32_t probe : {8u, 64u}) {
      double recall = 0;
      for (std::size_t q = 0; q < 100; ++q) {
        const float* query = &queries[q * kDimension];
        index.search(query, probe, scratch);
        recall += overlap(scratch.found, nearest(centroids, query, kDimension, probe)) / 100;
      }
      EXPECT_GE(recall, 0.97) << spread << " " << probe;
    }
  }
}

TEST(CentroidIndex, CountsItsDistances) {
  const std::vector<float> centroids = clouds(4000, 8, 3);
  CentroidScratch scratch;
  const CentroidIndex graph = make_index(centroids, 8);
  graph.search(centroids.data(), 10, scratch);
  EXPECT_GE(scratch.counts.distances, 10u);
  EXPECT_GT(scratch.counts.estimates, scratch.counts.distances);
  EXPECT_LT(scratch.counts.estimates, 4000u);
  const CentroidIndex all = make_index(std::vector<float>(&centroids[0], &centroids[800]), 8);
  all.search(centroids.data(), 10, scratch);
  EXPECT_EQ(scratch.counts.distances, 100u);
  EXPECT_EQ(scratch.counts.estimates, 0u);
}

/// Heads of a set of bytes.
TEST(CentroidIndex, BytesStayBytes) {
  for (const ElementType type : {ElementType::u8, ElementType::i8}) {
    for (const std::uint32_t dimension : {1u, 13u, 32u}) {
      const Rows heads = testing::cloud_rows(1500, dimension, 7, type);
      std::vector<float> centroids(1500 * std::size_t{dimension});
      for (std::size_t i = 0; i < 1500; ++i) {
        distance::widen(heads.view().row(i), type, dimension, &centroids[i * dimension]);
      }
      const CentroidIndex index = make_index(centroids, dimension, type);
      EXPECT_TRUE(index.has_byte_rows());
      const Rows queries = testing::cloud_rows(50, dimension, 7, type);
      CentroidScratch scratch;
      double recall = 0;
      for (std::size_t q = 0; q < 50; ++q) {
        std::vector<float> query(dimension);
        distance::widen(queries.view().row(q), type, dimension, query.data());
        index.search(queries.view().row(q), 20, scratch);
        const auto truth = nearest(centroids, query.data(), dimension, 20);
        std::size_t hits = 0;
        for (const NearCluster& near : scratch.found) {
          const double d = distance::reference::squared_l2(
              query.data(), &centroids[near.cluster * std::size_t{dimension}], ElementType::f32,
              dimension);
          EXPECT_EQ(near.distance, static_cast<float>(d));
          hits += near.distance <= truth.back().distance ? 1 : 0;
        }
        recall += static_cast<double>(hits) / 20 / 50;
        EXPECT_EQ(scratch.counts.estimates, 0u);
        EXPECT_GT(scratch.counts.distances, 20u);
      }
      EXPECT_GE(recall, dimension == 1 ? 0.5 : 0.97) << dimension;
      centroids[1000] += 0.5f;
      const CentroidIndex means = make_index(centroids, dimension, type);
      EXPECT_FALSE(means.has_byte_rows());
      EXPECT_GE(means.dram_bytes() - index.dram_bytes(), 1500u * 4 * dimension);
    }
  }
}

TEST_P(CentroidSearch, DistancesAreExact) {
  const std::vector<float> centroids = clouds(1000, 13, 2);
  const CentroidIndex index = make_index(centroids, 13, ElementType::f32, Metric::l2, GetParam());
  CentroidScratch scratch;
  index.search(centroids.data(), 20, scratch);
  for (const NearCluster& near : scratch.found) {
    const double d = distance::reference::squared_l2(
        centroids.data(), &centroids[near.cluster * std::size_t{13}], ElementType::f32, 13);
    EXPECT_NEAR(static_cast<double>(near.distance), d, 1e-4 * d + 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(ByGraphAndByScan, CentroidSearch, ::testing::Bool());

TEST(CentroidIndex, FewClustersAreAllCompared) {
  for (const std::size_t count : {1u, 2u, 7u, 100u}) {
    const std::vector<float> centroids = clouds(count, 5, 3);
    const CentroidIndex index = make_index(centroids, 5);
    const std::vector<float> query = clouds(1, 5, 4);
    CentroidScratch scratch;
    for (const std::uint32_t probe : {1u, 5u, 1000u}) {
      index.search(query.data(), probe, scratch);
      const auto truth = nearest(centroids, query.data(), 5, probe);
      ASSERT_EQ(scratch.found.size(), truth.size());
      EXPECT_EQ(overlap(scratch.found, truth), 1);
    }
  }
}

TEST(CentroidIndex, AllClustersComeOutWhenAllAreProbed) {
  const std::vector<float> centroids = clouds(1500, 8, 5);
  const CentroidIndex index = make_index(centroids, 8);
  CentroidScratch scratch;
  index.search(centroids.data(), 1500, scratch);
  EXPECT_EQ(scratch.found.size(), 1500u);
  index.search(centroids.data(), 4000000, scratch);
  EXPECT_EQ(scratch.found.size(), 1500u);
}

TEST(CentroidIndex, EqualCentroids) {
  const std::vector<float> centroids(700 * 4, 2.5f);
  const CentroidIndex index = make_index(centroids, 4);
  const std::vector<float> query{1, 2, 3, 4};
  CentroidScratch scratch;
  index.search(query.data(), 10, scratch);
  EXPECT_EQ(scratch.found.size(), 10u);
  for (const NearCluster& near : scratch.found) EXPECT_FLOAT_EQ(near.distance, 5);
}

TEST(CentroidIndex, TakesQueriesOfEveryType) {
  const std::vector<float> centroids = clouds(900, 16, 6);
  const std::vector<float> values = clouds(1, 16, 7);
  for (const ElementType type :
       {ElementType::f32, ElementType::f16, ElementType::u8, ElementType::i8}) {
    const CentroidIndex index = make_index(centroids, 16, type);
    const Rows query(values, 16, type);
    std::vector<float> wide(16);
    distance::widen(query.bytes.data(), type, 16, wide.data());
    CentroidScratch scratch;
    index.search(query.bytes.data(), 10, scratch);
    EXPECT_GE(overlap(scratch.found, nearest(centroids, wide.data(), 16, 10)), 0.9)
        << to_string(type);
  }
}

TEST(CentroidIndex, TheNormOfAQueryDoesNotMatterForInnerProduct) {
  const std::vector<float> centroids = clouds(900, 11, 8);
  const CentroidIndex index = make_index(centroids, 10, ElementType::f32, Metric::inner_product);
  std::vector<float> query = clouds(1, 10, 9);
  CentroidScratch first, second;
  index.search(query.data(), 10, first);
  for (float& value : query) value *= 4;  // exact, so that the same bits come out
  index.search(query.data(), 10, second);
  EXPECT_EQ(first.found, second.found);
  std::fill(query.begin(), query.end(), 0.0f);
  index.search(query.data(), 10, second);
  EXPECT_EQ(second.found.size(), 10u);
}

TEST(CentroidIndex, OneScratchServesManyIndexes) {
  const CentroidIndex small = make_index(clouds(3, 50, 1), 50);
  const CentroidIndex large = make_index(clouds(1000, 4, 1), 4);
  const std::vector<float> query(50, 1.0f);
  CentroidScratch scratch;
  for (int round = 0; round < 3; ++round) {
    small.search(query.data(), 2, scratch);
    EXPECT_EQ(scratch.found.size(), 2u);
    large.search(query.data(), 40, scratch);
    EXPECT_EQ(scratch.found.size(), 40u);
  }
  EXPECT_GT(scratch.dram_bytes(), 0u);
  EXPECT_GT(large.dram_bytes(), 1000u * (4 * 4 + 4));
}

TEST(CentroidIndex, RefusesPartsThatDoNotFit) {
  const std::vector<float> centroids = clouds(10, 4, 1);
  auto parts = [&] {
    return CentroidParts{Metric::l2, ElementType::f32, 4,
                         4,          centroids,        build_centroid_graph(centroids, 4, {})};
  };
  auto message = [](CentroidParts p) -> std::string {
    try {
      CentroidIndex index(std::move(p));
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message(parts()), "accepted");
  CentroidParts wrong = parts();
  wrong.metric = Metric::inner_product;
  EXPECT_THAT(message(std::move(wrong)), HasSubstr("do not fit vectors of 4 under ip"));
  wrong = parts();
  wrong.centroids.pop_back();
  EXPECT_THAT(message(std::move(wrong)), HasSubstr("39 floats"));
  wrong = parts();
  wrong.centroids.resize(36);
  EXPECT_THAT(message(std::move(wrong)), HasSubstr("10 vertices"));
  wrong = parts();
  wrong.graph.entry = 10;
  EXPECT_THAT(message(std::move(wrong)), HasSubstr("entry 10"));
  wrong = parts();
  wrong.centroids.clear();
  EXPECT_THAT(message(std::move(wrong)), HasSubstr("0 floats"));
}

}  // namespace
}  // namespace farvec::cluster
