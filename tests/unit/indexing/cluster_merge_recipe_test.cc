#include "indexing/cluster_merge_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
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
  const layout::ClusterBuildParameters base = open("base").manifest().cluster().build;
  const StoredClusters merged = merge(91);
  EXPECT_EQ(merged.manifest.count, merged.rows.count());
  EXPECT_EQ(merged.manifest.dataset.name, "small");
  EXPECT_EQ(merged.manifest.dataset.file, "");
  EXPECT_EQ(merged.manifest.dataset.rows_hashed, 0u);
  EXPECT_FLOAT_EQ(static_cast<float>(merged.manifest.cluster().build.closure_ratio),
                  static_cast<float>(base.closure_ratio));
  EXPECT_EQ(merged.manifest.cluster().build.heads, base.heads);
  EXPECT_EQ(merged.manifest.cluster().build.closure, base.closure);
  EXPECT_EQ(merged.manifest.cluster().build.rng_factor, base.rng_factor);
  EXPECT_EQ(merged.manifest.cluster().build.replicas, 4u);
}

/// Those whose centroid stayed, found by it, have their former's count; and homes go by the counts.
TEST_F(ClusterMergeRecipeTest, GroupsGoByWhatWasProbed) {
  write_base(80);
  StoredClusters base = read_clusters(open("base"), kLoad);
  std::map<std::vector<float>, std::uint64_t> probes_of;  // by centroid
  const auto centroid = [](const StoredClusters& of, ClusterId c) {
    const auto at = of.clusters.centroids.begin() +
                    static_cast<std::ptrdiff_t>(c * std::size_t{of.clusters.space_dimension});
    return std::vector<float>(at, at + of.clusters.space_dimension);
  };
  for (ClusterId c = 0; c < base.clusters.count(); ++c) {
    base.probes.push_back(1 + c * 37 % 101);
    probes_of[centroid(base, c)] = base.probes.back();
  }
  StoredClusters merged =
      merge_clusters(std::move(base), {RowSet().with(out_), more()}, options(91));
  ASSERT_EQ(merged.probes.size(), merged.clusters.count());
  std::size_t known = 0;
  for (ClusterId c = 0; c < merged.clusters.count(); ++c) {
    const auto found = probes_of.find(centroid(merged, c));
    if (found == probes_of.end()) continue;
    EXPECT_EQ(merged.probes[c], found->second) << c;
    ++known;
  }
  EXPECT_GE(known, 40u);
  const std::vector<std::uint64_t> probes = merged.probes;
  const BuiltClusters built = std::move(merged).built(2);
  std::size_t moved = 0;
  const std::vector<ClusterId> expected = expected_homes(built.clusters, 1);
  for (std::size_t v = 0; v < built.homes.size(); ++v) {
    for (const ClusterId c : built.clusters.membership().of(v)) {
      ASSERT_LE(probes[c], probes[built.homes[v]]) << v;
    }
    moved += built.homes[v] != expected[v];
  }
  EXPECT_GT(moved, 0u);
}

/// A few probes say nothing.
TEST_F(ClusterMergeRecipeTest, FewProbesDoNotGroup) {
  write_base(80);
  StoredClusters stored = read_clusters(open("base"), kLoad);
  stored.probes.assign(stored.clusters.count(), 0);
  stored.probes.back() = stored.clusters.count() - 1;
  const BuiltClusters built = std::move(stored).built(1);
  EXPECT_EQ(built.homes, expected_homes(built.clusters, 1));
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
