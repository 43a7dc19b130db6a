#include "indexing/cluster_merge_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/unit/indexing/recipe_fixture.h"
#include "tests/unit/message_of.h"

namespace farvec::indexing::cluster_merging {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kBase = 1600;
constexpr std::size_t kOutOneIn = 9;

class ClusterMergeRecipeTest : public RecipeTest {
 protected:
  ClusterMergeRecipeTest() {
    for (NodeId row = 0; row < kBase; row += kOutOneIn) out_.push_back(row);
  }

  static cluster::ClusteringOptions options(std::uint32_t clusters) {
    cluster::ClusteringOptions options;
    options.clusters = clusters;
    options.replicas = 4;
    options.threads = 2;
    options.quiet = true;
    return options;
  }
  void write_base(std::uint32_t clusters) const {
    const VectorView base = rows().part(0, kBase);
    const Source source{describe_source({"small.u8bin", "small"}, base, Metric::l2), base};
    write_clusters(path("base"), indexing::build_clusters(source, options(clusters)), {}, kWrite);
  }
  dataset::VectorSet more() const {
    dataset::VectorSet set(kCount - kBase, kDimension, ElementType::u8);
    std::memcpy(set.mutable_row(0), rows().row(kBase), set.count() * kDimension);
    return set;
  }
  StoredClusters merge(std::uint32_t clusters, cluster::ClusterMergeStats* stats = nullptr) const {
    return merge_clusters(read_clusters(open("base"), kLoad), {RowSet().with(out_), more()},
                          options(clusters), stats);
  }
  void expect_rows(const StoredClusters& merged) const {
    std::size_t next = 0;
    for (std::size_t row = 0; row < kCount; ++row) {
      if (row < kBase && row % kOutOneIn == 0) continue;
      ASSERT_TRUE(same_bytes(merged.rows.view().row(next++), rows().row(row), kDimension)) << row;
    }
    ASSERT_EQ(merged.rows.count(), next);
    ASSERT_EQ(merged.clusters.membership().count(), next);
  }

  std::vector<NodeId> out_;
};

std::set<ClusterId> clusters_of(const cluster::Clustering& clusters, std::size_t v) {
  const auto of = clusters.membership().of(v);
  return {of.begin(), of.end()};
}

TEST_F(ClusterMergeRecipeTest, IsWrittenAndReadInEveryLayout) {
  write_base(80);
  cluster::ClusterMergeStats stats;
  StoredClusters merged = merge(91, &stats);
  EXPECT_GT(stats.splits, 0u);
  expect_rows(merged);
  const BuiltClusters built = std::move(merged).built(2);
  for (const layout::ClusterLayoutKind kind : layout::kClusterLayouts) {
    const std::string name(to_string(kind));
    write_clusters(path(name), built, {.layout = kind}, kWrite);
    const StoredClusters again = read_clusters(open(name), kLoad);
    expect_rows(again);
    EXPECT_EQ(again.clusters.centroids, built.clusters.centroids);
    EXPECT_EQ(again.centroids.entry, built.centroids.entry);
    for (std::size_t v = 0; v < again.rows.count(); ++v) {
      ASSERT_EQ(clusters_of(again.clusters, v), clusters_of(built.clusters, v)) << name << " " << v;
    }
  }
}

TEST_F(ClusterMergeRecipeTest, TheManifestSaysWhatIsStillTrue) {
  write_base(80);
  const double ratio = open("base").manifest().cluster().build.closure_ratio;
  const StoredClusters merged = merge(91);
  EXPECT_EQ(merged.manifest.count, merged.rows.count());
  EXPECT_EQ(merged.manifest.dataset.name, "small");
  EXPECT_EQ(merged.manifest.dataset.file, "");
  EXPECT_EQ(merged.manifest.dataset.rows_hashed, 0u);
  EXPECT_FLOAT_EQ(static_cast<float>(merged.manifest.cluster().build.closure_ratio),
                  static_cast<float>(ratio));
  EXPECT_EQ(merged.manifest.cluster().build.replicas, 4u);
}

TEST_F(ClusterMergeRecipeTest, FewClustersAreBuiltAnew) {
  write_base(20);
  cluster::ClusterMergeStats stats;
  const StoredClusters merged = merge(91, &stats);
  expect_rows(merged);
  EXPECT_EQ(merged.clusters.count(), 91u);
  EXPECT_EQ(stats.distances, 0u);
}

TEST_F(ClusterMergeRecipeTest, WhatDoesNotFitIsRefused) {
  write_base(80);
  const std::string error = tests::message_of([&] {
    (void)merge_clusters(read_clusters(open("base"), kLoad),
                         {{}, dataset::VectorSet(3, kDimension + 1, ElementType::u8)}, options(80));
  });
  EXPECT_THAT(error, AllOf(HasSubstr("25"), HasSubstr("24")));
}

}  // namespace
}  // namespace farvec::indexing::cluster_merging
