// Which clusters a vector is in, and what their heads are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "cluster/clustering.h"
#include "distance/distance.h"
#include "distance/reference.h"
#include "tests/unit/cluster/clustering_fixture.h"
#include "tests/unit/cluster/test_data.h"

namespace farvec::cluster {
namespace {

using testing::cloud_rows;
using testing::distance_to;
using testing::expect_sound;
using testing::quiet;
using testing::Rows;

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

}  // namespace
}  // namespace farvec::cluster
