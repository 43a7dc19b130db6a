#include "cluster/clustering.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "distance/reference.h"
#include "tests/unit/cluster/test_data.h"

namespace farvec::cluster {
namespace {

using testing::cloud_rows;
using testing::clouds;
using ::testing::HasSubstr;
using testing::Rows;

ClusteringOptions quiet(std::uint32_t clusters, std::uint32_t replicas = 8) {
  ClusteringOptions options;
  options.clusters = clusters;
  options.replicas = replicas;
  options.threads = 2;
  options.quiet = true;
  return options;
}

std::vector<std::uint64_t> own_sizes(const Clustering& clustering) {
  std::vector<std::uint64_t> sizes(clustering.count(), 0);
  const MembershipView membership = clustering.membership();
  for (std::size_t v = 0; v < membership.count(); ++v) ++sizes[membership.of(v).front()];
  return sizes;
}

/// What must hold for every data set: shapes, bounds, no cluster twice, no cluster empty.
void expect_sound(const Clustering& clustering, std::size_t vectors,
                  const ClusteringOptions& options) {
  ASSERT_EQ(clustering.count(), options.clusters);
  const MembershipView membership = clustering.membership();
  ASSERT_EQ(membership.count(), vectors);
  EXPECT_EQ(membership.begins.front(), 0u);
  EXPECT_EQ(membership.begins.back(), membership.clusters.size());
  for (std::size_t v = 0; v < vectors; ++v) {
    const auto of = membership.of(v);
    ASSERT_GE(of.size(), 1u) << v;
    ASSERT_LE(of.size(), options.replicas) << v;
    EXPECT_EQ(std::set<ClusterId>(of.begin(), of.end()).size(), of.size()) << v;
    for (const ClusterId c : of) ASSERT_LT(c, options.clusters);
  }
  const auto largest = static_cast<std::uint64_t>(
      std::ceil(static_cast<double>(options.balance) * static_cast<double>(vectors) /
                static_cast<double>(options.clusters)));
  for (const std::uint64_t size : own_sizes(clustering)) {
    EXPECT_GE(size, 1u);
    EXPECT_LE(size, largest);
  }
}

double distance_to(const Clustering& clustering, const VectorView& rows, std::size_t v,
                   ClusterId c) {
  std::vector<float> row(rows.dimension);
  distance::widen(rows.row(v), rows.type, rows.dimension, row.data());
  return distance::reference::squared_l2(
      row.data(), &clustering.centroids[c * std::size_t{clustering.space_dimension}],
      ElementType::f32, rows.dimension);
}

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

struct NaiveRule {
  double ratio = 1, factor = 1;
  bool only_before = false;
};

/// The clusters of a vector when all have room: over all centroids in the order of their distance.
std::vector<ClusterId> naive_clusters(const Clustering& clustering, const VectorView& rows,
                                      std::size_t v, const NaiveRule& rule) {
  const std::uint32_t dimension = rows.dimension;
  std::vector<std::pair<double, ClusterId>> order;
  for (ClusterId c = 0; c < clustering.count(); ++c) {
    order.push_back({distance_to(clustering, rows, v, c), c});
  }
  std::sort(order.begin(), order.end());
  std::vector<ClusterId> chosen;
  for (std::size_t i = 0; i < order.size() && chosen.size() < 5; ++i) {
    const auto [d, c] = order[i];
    if (d > order.front().first * rule.ratio * rule.ratio) break;
    const auto covers = [&, d = d, c = c](ClusterId e) {
      return d >= rule.factor * rule.factor *
                      distance::reference::squared_l2(&clustering.centroids[c * dimension],
                                                      &clustering.centroids[e * dimension],
                                                      ElementType::f32, dimension);
    };
    const bool covered = rule.only_before ? i > 0 && covers(order[i - 1].second)
                                          : std::any_of(chosen.begin(), chosen.end(), covers);
    if (!covered) chosen.push_back(c);
  }
  return chosen;
}

void expect_rule(ClusteringOptions options, const NaiveRule& rule) {
  const Rows rows = cloud_rows(1500, 4, 2);
  options.balance = 100;
  ClusteringStats stats;
  const Clustering clustering = build_clusters(rows.view(), Metric::l2, options, &stats);
  const MembershipView membership = clustering.membership();
  for (std::size_t v = 0; v < 1500; ++v) {
    const auto of = membership.of(v);
    EXPECT_EQ(std::vector<ClusterId>(of.begin(), of.end()),
              naive_clusters(clustering, rows.view(), v, rule))
        << v;
  }
  EXPECT_FLOAT_EQ(stats.closure_ratio, static_cast<float>(rule.ratio));
  EXPECT_FLOAT_EQ(stats.rng_factor, static_cast<float>(rule.factor));
}

TEST(Clustering, ReplicasFollowTheRules) {
  ClusteringOptions options = quiet(50, 5);
  options.closure_ratio = 1.4f;
  options.rng_factor = 1.2f;
  for (const HeadKind heads : {HeadKind::means, HeadKind::vectors, HeadKind::rounded}) {
    options.heads = heads;
    expect_rule(options, {1.4, 1.2, false});
  }
}

TEST(Clustering, ClosuresHaveTheirOwnRules) {
  ClusteringOptions options = quiet(50, 5);
  options.heads = HeadKind::vectors;
  options.closure = ClosureRule::spann;
  expect_rule(options, {11, 1, true});
  options.closure = ClosureRule::sptag;
  expect_rule(options, {100, 1, false});
  options.rng_factor = 1.5f;
  options.closure_ratio = 2;
  expect_rule(options, {2, 1.5, false});
}

/// Every centroid equals a row, and where rows differ no two are of the same.
void expect_heads(const Clustering& clustering, const VectorView& rows) {
  std::set<std::vector<float>> all, heads;
  const std::uint32_t dimension = clustering.space_dimension;
  for (std::size_t v = 0; v < rows.count; ++v) {
    std::vector<float> row(dimension);
    distance::widen(rows.row(v), rows.type, dimension, row.data());
    all.insert(row);
  }
  for (std::size_t c = 0; c < clustering.count(); ++c) {
    const float* const head = &clustering.centroids[c * dimension];
    heads.insert(std::vector<float>(head, head + dimension));
    EXPECT_EQ(all.count(std::vector<float>(head, head + dimension)), 1u) << c;
  }
  if (all.size() == rows.count) {
    EXPECT_EQ(heads.size(), clustering.count());
  }
}

TEST(Clustering, HeadsAreVectorsOfTheSet) {
  const Rows rows = cloud_rows(2000, 7, 14, ElementType::u8);
  for (const std::uint32_t clusters : {1u, 2u, 40u, 320u, 2000u}) {
    for (const std::uint32_t refinements : {0u, 2u}) {
      ClusteringOptions options = quiet(clusters);
      options.heads = HeadKind::vectors;
      options.closure = ClosureRule::sptag;
      options.refinements = refinements;
      const Clustering clustering = build_clusters(rows.view(), Metric::l2, options);
      expect_sound(clustering, 2000, options);
      expect_heads(clustering, rows.view());
    }
  }
}

TEST(Clustering, RoundedMeansAreElements) {
  for (const ElementType type : {ElementType::u8, ElementType::i8, ElementType::f32}) {
    const Rows rows = cloud_rows(2000, 7, 14, type);
    ClusteringOptions options = quiet(40, 1);
    const Clustering means = build_clusters(rows.view(), Metric::l2, options);
    options.heads = HeadKind::rounded;
    const Clustering rounded = build_clusters(rows.view(), Metric::l2, options);
    expect_sound(rounded, 2000, options);
    for (std::size_t i = 0; i < means.centroids.size(); ++i) {
      const float mean = means.centroids[i];
      EXPECT_EQ(rounded.centroids[i], type == ElementType::f32 ? mean : std::nearbyint(mean)) << i;
    }
  }
}

TEST(Clustering, HeadsOfEqualVectors) {
  const Rows rows(std::vector<float>(300 * 3, 7.0f), 3, ElementType::u8);
  ClusteringOptions options = quiet(100);
  options.heads = HeadKind::vectors;
  options.closure = ClosureRule::sptag;
  const Clustering clustering = build_clusters(rows.view(), Metric::l2, options);
  expect_sound(clustering, 300, options);
  expect_heads(clustering, rows.view());
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
