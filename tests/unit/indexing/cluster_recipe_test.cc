#include "indexing/cluster_recipe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "layout/cluster/cluster_decoder.h"
#include "tests/unit/indexing/recipe_fixture.h"

namespace farvec::indexing {
namespace {

using layout::ClusterLayoutKind;

constexpr std::uint32_t kClusters = 40;

class ClusterRecipeTest : public RecipeTest {
 protected:
  BuiltClusters build(unsigned threads = 2) const {
    cluster::ClusteringOptions options;
    options.clusters = kClusters;
    options.replicas = 4;
    options.seed = 5;
    options.threads = threads;
    options.quiet = true;
    return indexing::build_clusters(source(), options);
  }
  static std::set<ClusterId> clusters_of(const MembershipView& membership, std::size_t v) {
    const auto clusters = membership.of(v);
    return {clusters.begin(), clusters.end()};
  }
  static bool has_groups(ClusterLayoutKind kind) {
    return kind == ClusterLayoutKind::grouped || kind == ClusterLayoutKind::grouped_inline;
  }
};

TEST_F(ClusterRecipeTest, TheSameClustersAreReadBackFromEveryLayout) {
  const BuiltClusters built = build();
  for (const ClusterLayoutKind kind : layout::kClusterLayouts) {
    const std::string name(to_string(kind));
    const bool checksum = kind == ClusterLayoutKind::decoupled;
    const layout::Manifest written = write_clusters(path(name), built, {kind, checksum}, kWrite);
    EXPECT_EQ(written.cluster().geometry.kind, kind);
    EXPECT_EQ(written.cluster().geometry.record_checksum, checksum);
    EXPECT_EQ(written.cluster().geometry.clusters, kClusters);
    const layout::IndexDirectory directory = open(name);
    const layout::DecodedClusters decoded =
        layout::decode_clusters(directory.load_cluster_locator(kLoad),
                                directory.load_region(layout::kRecordsRegion, kLoad).span());
    EXPECT_TRUE(same_bytes(decoded.vectors.data(), rows().row(0), kCount * kDimension)) << name;
    for (std::size_t v = 0; v < kCount; ++v) {
      ASSERT_EQ(clusters_of(decoded.membership(), v), clusters_of(built.clusters.membership(), v));
      if (has_groups(kind)) {
        ASSERT_EQ(decoded.homes[v], built.homes[v]) << name << " " << v;
      }
    }
    EXPECT_EQ(directory.load_centroids(kLoad).centroids, built.clusters.centroids);
  }
}

TEST_F(ClusterRecipeTest, AVectorIsAtHomeInTheLargestOfItsClusters) {
  const BuiltClusters built = build();
  std::vector<std::size_t> members(kClusters);
  for (const ClusterId cluster : built.clusters.clusters) ++members[cluster];
  for (std::size_t v = 0; v < kCount; ++v) {
    const auto own = built.clusters.membership().of(v);
    ASSERT_TRUE(std::find(own.begin(), own.end(), built.homes[v]) != own.end()) << v;
    for (const ClusterId cluster : own) ASSERT_GE(members[built.homes[v]], members[cluster]) << v;
  }
}

TEST_F(ClusterRecipeTest, ASearchOfAllClustersFindsTheNearest) {
  const BuiltClusters built = build();
  for (const ClusterLayoutKind kind : layout::kClusterLayouts) {
    const std::string name(to_string(kind));
    write_clusters(path(name), built, {.layout = kind}, kWrite);
    const layout::IndexDirectory directory = open(name);
    const search::SearchIndex index = search::load_search_index(directory, kLoad);
    const HugeBuffer region = directory.load_region(layout::kRecordsRegion, kLoad);
    search::TaskListFeed feed = queries();
    const search::ProbeChoice all{.clusters = kClusters,
                                  .list = static_cast<std::uint32_t>(directory.manifest().count)};
    for (auto& task : feed.tasks()) {
      task.parameters = search::SearchParameters::make(10, all).value();
    }
    search::make_core(index, region.span(), search::SearchCoreOptions())->run(feed);
    for (std::size_t q = 0; q < kQueries; ++q) {
      const search::TaskListFeed::Task& task = feed.tasks()[q];
      ASSERT_TRUE(task.status.ok()) << task.status.message();
      const std::vector<float> found(task.distance_room, task.distance_room + task.found);
      EXPECT_EQ(found, nearest(q, task.parameters.k())) << name << ", query " << q;
    }
  }
}

TEST_F(ClusterRecipeTest, TheManifestSaysHowTheyWereBuilt) {
  const BuiltClusters built = build();
  const layout::Manifest written = write_clusters(path("index"), built, {}, kWrite);
  EXPECT_TRUE(written.is_cluster());
  EXPECT_EQ(written.cluster().build.replicas, 4u);
  EXPECT_EQ(written.cluster().build.seed, 5u);
  EXPECT_EQ(written.cluster().build.sample, built.stats.sample);
  EXPECT_GT(written.cluster().build.closure_ratio, 1);  // chosen, where none is given
  EXPECT_EQ(written.cluster().geometry.members, built.stats.memberships);
  EXPECT_EQ(written.dataset.name, "small");
}

TEST_F(ClusterRecipeTest, TheBytesDoNotDependOnTheThreads) {
  const layout::Manifest one =
      write_clusters(path("one"), build(1), {}, {.threads = 1, .quiet = true});
  const layout::Manifest three =
      write_clusters(path("three"), build(3), {}, {.threads = 3, .quiet = true});
  EXPECT_EQ(manifest_to_json(one), manifest_to_json(three));
}

TEST_F(ClusterRecipeTest, MoreClustersThanVectorsAreRefused) {
  cluster::ClusteringOptions options;
  options.clusters = kCount + 1;
  options.quiet = true;
  EXPECT_THROW(indexing::build_clusters(source(), options), Error);
}

TEST(ClusterRecipe, RowsThatDoNotFillAClusterHaveOneToo) {
  EXPECT_EQ(cluster_count(1, 100), 1u);
  EXPECT_EQ(cluster_count(100, 100), 1u);
  EXPECT_EQ(cluster_count(101, 100), 2u);
  EXPECT_EQ(cluster_count(7, 1), 7u);
}

}  // namespace
}  // namespace farvec::indexing
