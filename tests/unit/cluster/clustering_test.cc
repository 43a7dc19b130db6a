#include "cluster/clustering.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "distance/reference.h"
#include "tests/unit/cluster/clustering_fixture.h"
#include "tests/unit/cluster/test_data.h"

namespace farvec::cluster {
namespace {

using testing::cloud_rows;
using testing::clouds;
using testing::distance_to;
using testing::expect_sound;
using ::testing::HasSubstr;
using testing::own_sizes;
using testing::quiet;
using testing::Rows;

/// In the order of ids, every vector's own cluster is the nearest that still had room.
void expect_nearest_with_room(const Clustering& clustering, const VectorView& rows,
                              std::uint64_t capacity) {
  std::vector<std::uint64_t> sizes(clustering.count(), 0);
  for (std::size_t v = 0; v < rows.count; ++v) {
    const ClusterId own = clustering.membership().of(v).front();
    const double mine = distance_to(clustering, rows, v, own);
    for (ClusterId c = 0; c < clustering.count(); ++c) {
      if (sizes[c] < capacity) {
        EXPECT_GE(distance_to(clustering, rows, v, c) * 1.0001 + 1e-3, mine) << v;
      }
    }
    ++sizes[own];
  }
}

TEST(Clustering, EveryVectorIsInItsNearestClusterWithRoom) {
  const Rows rows = cloud_rows(2000, 6, 1);
  for (const float balance : {1.0f, 1.5f}) {
    ClusteringOptions options = quiet(40);
    options.balance = balance;
    ClusteringStats stats;
    const Clustering clustering = build_clusters(rows.view(), Metric::l2, options, &stats);
    expect_sound(clustering, 2000, options);
    ASSERT_EQ(stats.refilled, 0u);
    expect_nearest_with_room(clustering, rows.view(),
                             static_cast<std::uint64_t>(std::ceil(balance * 50)));
  }
}

TEST(Clustering, OneReplicaMeansOneCluster) {
  const Rows rows = cloud_rows(500, 3, 3);
  const ClusteringOptions options = quiet(20, 1);
  ClusteringStats stats;
  const Clustering clustering = build_clusters(rows.view(), Metric::l2, options, &stats);
  expect_sound(clustering, 500, options);
  EXPECT_EQ(stats.memberships, 500u);
}

TEST(Clustering, ThreadsAndChunksDoNotMatterSeedsDo) {
  const Rows rows = cloud_rows(6000, 12, 4, ElementType::u8);
  ClusteringOptions options = quiet(400, 4);
  options.balance = 1.1f;
  options.threads = 1;
  const Clustering first = build_clusters(rows.view(), Metric::l2, options);
  expect_sound(first, 6000, options);
  for (const std::size_t chunk : {1u, 777u, 100000u}) {
    options.threads = 3;
    options.chunk_rows = chunk;
    const Clustering other = build_clusters(rows.view(), Metric::l2, options);
    EXPECT_EQ(other.centroids, first.centroids);
    EXPECT_EQ(other.begins, first.begins);
    EXPECT_EQ(other.clusters, first.clusters);
  }
  options.seed = 2;
  EXPECT_NE(build_clusters(rows.view(), Metric::l2, options).centroids, first.centroids);
}

TEST(Clustering, TrainsOnASample) {
  const Rows rows = cloud_rows(5000, 8, 5);
  ClusteringOptions options = quiet(60);
  options.sample = 700;
  ClusteringStats stats;
  const Clustering clustering = build_clusters(rows.view(), Metric::l2, options, &stats);
  expect_sound(clustering, 5000, options);
  EXPECT_EQ(stats.sample, 700u);
}

TEST(Clustering, EveryTypeAndMetric) {
  for (const ElementType type :
       {ElementType::f32, ElementType::f16, ElementType::u8, ElementType::i8}) {
    const Rows rows = cloud_rows(600, 9, 6, type);
    for (const Metric metric : {Metric::l2, Metric::inner_product}) {
      SCOPED_TRACE(fmt::format("{} {}", to_string(type), to_string(metric)));
      const Clustering clustering = build_clusters(rows.view(), metric, quiet(30));
      expect_sound(clustering, 600, quiet(30));
      EXPECT_EQ(clustering.space_dimension, metric == Metric::l2 ? 9u : 10u);
    }
  }
}

TEST(Clustering, InnerProductLiesOnASphere) {
  const Rows rows = cloud_rows(200, 3, 7);
  const Clustering clustering = build_clusters(rows.view(), Metric::inner_product, quiet(200, 1));
  // Every vector is a cluster of its own: its centroid is the vector in the space.
  double largest = 0;
  for (std::size_t v = 0; v < 200; ++v) {
    largest = std::max(largest, distance::reference::dot(rows.view().row(v), rows.view().row(v),
                                                         ElementType::f32, 3));
  }
  for (std::size_t c = 0; c < 200; ++c) {
    const float* centroid = &clustering.centroids[c * 4];
    EXPECT_NEAR(distance::reference::dot(centroid, centroid, ElementType::f32, 4), largest,
                largest * 1e-5);
  }
}

TEST(Clustering, RowsMayHaveGaps) {
  const std::vector<float> values = clouds(400, 5, 8);
  std::vector<float> gaps;
  for (std::size_t i = 0; i < 400; ++i) {
    gaps.insert(gaps.end(), &values[i * 5], &values[i * 5] + 5);
    gaps.insert(gaps.end(), 3, std::nanf(""));
  }
  const VectorView view{reinterpret_cast<const std::byte*>(gaps.data()), 400, 5, ElementType::f32,
                        8 * sizeof(float)};
  const Rows packed(values, 5, ElementType::f32);
  EXPECT_EQ(build_clusters(view, Metric::l2, quiet(20)).clusters,
            build_clusters(packed.view(), Metric::l2, quiet(20)).clusters);
}

TEST(Clustering, AllVectorsEqual) {
  const Rows rows(std::vector<float>(900 * 4, 7.0f), 4, ElementType::u8);
  for (const std::uint32_t clusters : {1u, 2u, 100u, 600u, 900u}) {
    const Clustering clustering = build_clusters(rows.view(), Metric::l2, quiet(clusters));
    expect_sound(clustering, 900, quiet(clusters));
    EXPECT_EQ(clustering.centroids, std::vector<float>(std::size_t{clusters} * 4, 7.0f));
    EXPECT_EQ(clustering.membership().clusters.size(), 900u);  // no replica in an equal centroid
  }
}

TEST(Clustering, ManyDuplicates) {
  std::vector<float> values = clouds(1000, 4, 9);
  for (std::size_t i = 0; i < 600; ++i) std::copy_n(values.begin(), 4, &values[i * 4]);
  const Rows rows(values, 4, ElementType::f32);
  const Clustering clustering = build_clusters(rows.view(), Metric::l2, quiet(300));
  expect_sound(clustering, 1000, quiet(300));
}

TEST(Clustering, OneDenseCloudAndFewFarVectors) {
  std::vector<float> values = clouds(3000, 6, 10, 1);
  for (std::size_t i = 0; i < 10; ++i) values[i * 300 * 6] = 1e5f * static_cast<float>(i + 1);
  const Rows rows(values, 6, ElementType::f32);
  const Clustering clustering = build_clusters(rows.view(), Metric::l2, quiet(100));
  expect_sound(clustering, 3000, quiet(100));
}

TEST(Clustering, SmallestInputs) {
  const Rows one({1, 2, 3}, 3, ElementType::f32);
  const Clustering clustering = build_clusters(one.view(), Metric::l2, quiet(1));
  expect_sound(clustering, 1, quiet(1));
  EXPECT_EQ(clustering.centroids, (std::vector<float>{1, 2, 3}));
  for (std::size_t count = 1; count < 12; ++count) {
    const Rows rows = cloud_rows(count, 1, count);
    for (std::uint32_t clusters = 1; clusters <= count; ++clusters) {
      expect_sound(build_clusters(rows.view(), Metric::l2, quiet(clusters)), count,
                   quiet(clusters));
    }
  }
}

TEST(Clustering, MoreReplicasThanClusters) {
  const Rows rows = cloud_rows(100, 3, 11);
  ClusteringOptions options = quiet(3, 8);
  options.closure_ratio = 100;
  options.rng_factor = 1e6f;
  const Clustering clustering = build_clusters(rows.view(), Metric::l2, options);
  expect_sound(clustering, 100, options);
  EXPECT_EQ(clustering.membership().clusters.size(), 300u);
}

TEST(Clustering, StatsCountWhatIsThere) {
  const Rows rows = cloud_rows(2000, 5, 12);
  ClusteringOptions options = quiet(50);
  options.balance = 1;
  ClusteringStats stats;
  const Clustering clustering = build_clusters(rows.view(), Metric::l2, options, &stats);
  const std::vector<std::uint64_t> own = own_sizes(clustering);
  EXPECT_EQ(stats.largest_own, *std::max_element(own.begin(), own.end()));
  EXPECT_EQ(stats.memberships, clustering.clusters.size());
  EXPECT_GE(stats.largest_cluster, stats.largest_own);
  EXPECT_GT(stats.displaced, 0u);
  EXPECT_EQ(stats.sample, 2000u);
  EXPECT_GT(stats.closure_ratio, 1);
  const double copies = static_cast<double>(stats.memberships) / 2000;
  EXPECT_GT(copies, 2.5);  // the ratio aims at 4.5, the rule after it takes some away
  EXPECT_LT(copies, 5);
}

TEST(Clustering, RefusesWhatMakesNoSense) {
  const Rows rows = cloud_rows(10, 3, 13);
  auto message = [&](auto change) -> std::string {
    ClusteringOptions options = quiet(5);
    change(options);
    try {
      build_clusters(rows.view(), Metric::l2, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message([](auto&) {}), "accepted");
  EXPECT_THAT(message([](auto& o) { o.clusters = 11; }),
              HasSubstr("10 vectors cannot fill 11 clusters: ask for at most 10"));
  EXPECT_THAT(message([](auto& o) { o.clusters = 0; }), HasSubstr("0 clusters"));
  EXPECT_THAT(message([](auto& o) { o.replicas = 0; }), HasSubstr("0 replicas"));
  EXPECT_THAT(message([](auto& o) { o.replicas = 9; }), HasSubstr("9 replicas"));
  EXPECT_THAT(message([](auto& o) { o.closure_ratio = 0.9f; }), HasSubstr("closure ratio 0.9"));
  EXPECT_THAT(message([](auto& o) { o.closure_ratio = std::nanf(""); }), HasSubstr("closure"));
  EXPECT_THAT(message([](auto& o) { o.rng_factor = -1; }), HasSubstr("neighbourhood factor -1"));
  EXPECT_THAT(message([](auto& o) { o.balance = 0.99f; }), HasSubstr("balance 0.99"));
  EXPECT_THAT(message([](auto& o) { o.sample = 4; }), HasSubstr("a sample of 4 rows"));
  EXPECT_THAT(message([](auto& o) { o.chunk_rows = 0; }), HasSubstr("chunks"));
  const Rows wide(std::vector<float>(kMaxDimension, 1.0f), kMaxDimension, ElementType::u8);
  EXPECT_NO_THROW(build_clusters(wide.view(), Metric::l2, quiet(1)));
  EXPECT_THROW(build_clusters(wide.view(), Metric::inner_product, quiet(1)), Error);
}

}  // namespace
}  // namespace farvec::cluster
