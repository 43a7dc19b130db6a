#include "indexing/cluster_recipe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>
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
  BuiltClusters build(unsigned threads = 2, const std::optional<QuerySample>& sample = std::nullopt,
                      const Interruption& interrupted = {}) const {
    cluster::ClusteringOptions options;
    options.interrupted = interrupted;
    options.clusters = kClusters;
    options.replicas = 4;
    options.seed = 5;
    options.threads = threads;
    options.quiet = true;
    return indexing::build_clusters(source(), options, sample);
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

/// Also at the first query of a sample, behind all that a build without one asks.
TEST_F(ClusterRecipeTest, EndsWhereverItIsInterrupted) {
  const QuerySample sample{rows().part(0, 20), 5};
  int asked = 0;
  (void)build(1, std::nullopt, [&] { return ++asked < 0; });
  const int before_sample = asked;
  asked = 0;
  (void)build(1, sample, [&] { return ++asked < 0; });
  EXPECT_EQ(asked, before_sample + 20);
  for (int after = asked; after > 0; after -= after > before_sample ? 7 : asked / 9 + 1) {
    int times = 0;
    EXPECT_THROW((void)build(1, sample, [&] { return ++times >= after; }), WorkInterrupted)
        << after << " of " << before_sample;
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

/// What each cluster has of the probes of these rows, which are queries here.
std::vector<std::size_t> probes_of(const cluster::Clustering& clusters, const VectorView& rows,
                                   std::uint32_t probe) {
  std::vector<std::size_t> counts(clusters.count());
  const auto kernel = distance::pair_kernel(Metric::l2, ElementType::f32, rows.dimension);
  std::vector<float> query(rows.dimension);
  for (std::size_t q = 0; q < rows.count; ++q) {
    distance::widen(rows.row(q), rows.type, rows.dimension, query.data());
    std::vector<std::pair<float, ClusterId>> order;
    for (ClusterId c = 0; c < clusters.count(); ++c) {
      order.push_back({kernel(query.data(), &clusters.centroids[c * std::size_t{rows.dimension}],
                              rows.dimension),
                       c});
    }
    std::sort(order.begin(), order.end());
    for (std::uint32_t i = 0; i < probe && i < order.size(); ++i) ++counts[order[i].second];
  }
  return counts;
}

TEST_F(ClusterRecipeTest, AVectorIsAtHomeWhereASampleProbesMost) {
  for (const std::uint32_t probe : {1u, 3u, 2 * kClusters}) {
    const VectorView sample = rows().part(0, 30);
    const BuiltClusters built = build(2, QuerySample{sample, probe});
    std::vector<std::size_t> members(kClusters);
    for (const ClusterId cluster : built.clusters.clusters) ++members[cluster];
    const std::vector<std::size_t> probes = probes_of(built.clusters, sample, probe);
    const auto worth = [&](ClusterId c) { return std::pair(probes[c], members[c]); };
    for (std::size_t v = 0; v < kCount; ++v) {
      const auto own = built.clusters.membership().of(v);
      ASSERT_TRUE(std::find(own.begin(), own.end(), built.homes[v]) != own.end()) << v;
      for (const ClusterId cluster : own) ASSERT_GE(worth(built.homes[v]), worth(cluster)) << v;
    }
  }
}

TEST_F(ClusterRecipeTest, SamplesThatSayNothingAreRefused) {
  EXPECT_THROW(build(1, QuerySample{rows().part(0, 0), 3}), Error);
  EXPECT_THROW(build(1, QuerySample{rows().part(0, 5), 0}), Error);
  VectorView narrow = rows();
  narrow.dimension -= 1;
  EXPECT_THROW(build(1, QuerySample{narrow, 3}), Error);
  VectorView other = rows();
  other.type = ElementType::i8;
  EXPECT_THROW(build(1, QuerySample{other, 3}), Error);
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
      task.request.parameters = search::SearchParameters::make(10, all).value();
    }
    search::make_core(index, region.span(), search::SearchCoreOptions())->run(feed);
    for (std::size_t q = 0; q < kQueries; ++q) {
      const search::TaskListFeed::Task& task = feed.tasks()[q];
      ASSERT_TRUE(task.answer.status.ok()) << task.answer.status.message();
      const std::vector<float> found(task.distance_room, task.distance_room + task.answer.found);
      EXPECT_EQ(found, nearest(q, task.request.parameters.k())) << name << ", query " << q;
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
  EXPECT_EQ(written.cluster().build.heads, cluster::ClusteringOptions{}.heads);
  EXPECT_EQ(written.cluster().build.closure, cluster::ClusteringOptions{}.closure);
  EXPECT_EQ(written.cluster().build.rng_factor, double{built.stats.rng_factor});
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

TEST(ClusterRecipe, TheNumberOfClustersIsSaidInOneWay) {
  const std::vector<std::byte> bytes(1001 * 8);
  const VectorView rows = packed_view(bytes.data(), 1001, 8, ElementType::u8);
  EXPECT_TRUE(ClusterNumber{}.is_said_once_at_most());
  EXPECT_FALSE((ClusterNumber{5, 100, 0}).is_said_once_at_most());
  EXPECT_FALSE((ClusterNumber{5, 0, 0.5}).is_said_once_at_most());
  EXPECT_TRUE((ClusterNumber{5, 0, 0}).is_said_once_at_most());
  EXPECT_EQ(ClusterNumber{}.of(rows), 161u);
  for (const ClusterNumber& many : {ClusterNumber{}, ClusterNumber{0, 0, 0.01}}) {
    EXPECT_EQ(many.heads(), HeadKind::vectors);
    EXPECT_EQ(many.closure(), ClosureRule::sptag);
  }
  for (const ClusterNumber& few : {ClusterNumber{5, 0, 0}, ClusterNumber{0, 80, 0}}) {
    EXPECT_EQ(few.heads(), HeadKind::means);
    EXPECT_EQ(few.closure(), ClosureRule::fitted);
  }
  EXPECT_EQ((ClusterNumber{5, 0, 0}).of(rows), 5u);
  EXPECT_EQ((ClusterNumber{0, 80, 0}).of(rows), 101u);
  EXPECT_EQ((ClusterNumber{0, 1, 0}).of(rows), 1001u);
  EXPECT_EQ((ClusterNumber{0, 0, 0.16}).of(rows), 161u);
  EXPECT_EQ((ClusterNumber{0, 0, 1}).of(rows), 1001u);
  EXPECT_EQ((ClusterNumber{0, 0, 1e-9}).of(rows), 1u);
  for (const double wrong : {-0.1, 1.01, std::nan("")}) {
    EXPECT_THROW((void)(ClusterNumber{0, 0, wrong}).of(rows), Error) << wrong;
  }
}

TEST(ClusterRecipe, RowsThatDoNotFillAClusterHaveOneToo) {
  EXPECT_EQ(cluster_count(1, 100), 1u);
  EXPECT_EQ(cluster_count(100, 100), 1u);
  EXPECT_EQ(cluster_count(101, 100), 2u);
  EXPECT_EQ(cluster_count(7, 1), 7u);
}

}  // namespace
}  // namespace farvec::indexing
