#include "cluster/cluster_merge.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/progress.h"
#include "cluster/centroid_index.h"
#include "cluster/space.h"
#include "dataset/vector_set.h"
#include "tests/unit/cluster/test_data.h"
#include "tests/unit/data_sets.h"

namespace farvec::cluster::merging {
namespace {

using testing::clouds;
using testing::Rows;

constexpr std::size_t kRowsPerCluster = 20;
constexpr std::uint32_t kSmallDimension = 12;

ClusteringOptions quiet(std::size_t rows, std::uint32_t replicas = 4) {
  ClusteringOptions options;
  options.clusters = static_cast<std::uint32_t>((rows + kRowsPerCluster - 1) / kRowsPerCluster);
  options.replicas = replicas;
  options.threads = 2;
  options.quiet = true;
  return options;
}

/// An index's clusters, and what a merge of them needs to know.
struct Built {
  Clustering clusters;
  graph::Graph centroids{0, 1};
  float closure_ratio = 1;
  Space::Reach reach;
  std::vector<ClusterId> origins = {};  ///< of a merge
};

Built build(const VectorView& rows, const ClusteringOptions& options, Metric metric = Metric::l2) {
  Built built;
  ClusteringStats stats;
  built.clusters = build_clusters(rows, metric, options, &stats);
  built.centroids = build_centroid_graph(built.clusters.centroids, built.clusters.space_dimension,
                                         {options.seed, options.threads});
  built.closure_ratio = stats.closure_ratio;
  built.reach = Space(rows, metric, 1).reach();
  return built;
}

/// `rows` are what stays of former's, then the new ones.
Built merge(Built former, const RowSet& out, const VectorView& rows, ClusteringOptions options,
            ClusterMergeStats* stats = nullptr, Metric metric = Metric::l2) {
  options.closure_ratio = former.closure_ratio;
  MergedClusters merged = merge_clusters(
      {std::move(former.clusters), std::move(former.centroids), out, former.reach, rows}, metric,
      options, stats);
  return {std::move(merged.clusters), std::move(merged.centroids), former.closure_ratio,
          former.reach, std::move(merged.origins)};
}

void expect_sound(const Built& built, std::size_t rows, std::uint32_t replicas = 4) {
  const MembershipView membership = built.clusters.membership();
  ASSERT_EQ(membership.count(), rows);
  ASSERT_EQ(built.centroids.count(), built.clusters.count());
  ASSERT_LT(built.centroids.entry, built.clusters.count());
  std::vector<std::size_t> members(built.clusters.count());
  for (std::size_t v = 0; v < rows; ++v) {
    const auto of = membership.of(v);
    ASSERT_GE(of.size(), 1u) << v;
    ASSERT_LE(of.size(), replicas) << v;
    ASSERT_EQ(std::set<ClusterId>(of.begin(), of.end()).size(), of.size()) << v;
    for (const ClusterId c : of) ++members.at(c);
  }
  for (const std::size_t count : members) EXPECT_GT(count, 0u);
}

/// Share of each query's ten nearest rows that lie in the `probes` clusters whose centroids are
/// nearest, and how many members these have: by comparing everything.
struct Found {
  double recall = 0;
  double scanned = 0;
};
/// The `count` nearest of the rows.
std::vector<NodeId> nearest(const void* query, const VectorView& rows, std::size_t count) {
  const auto pair = distance::pair_kernel(Metric::l2, ElementType::f32, rows.dimension);
  std::vector<std::pair<float, NodeId>> all(rows.count);
  for (NodeId i = 0; i < rows.count; ++i) all[i] = {pair(query, rows.row(i), rows.dimension), i};
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
  std::vector<NodeId> ids(count);
  std::transform(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), ids.begin(),
                 [](const auto& near) { return near.second; });
  return ids;
}

/// Queries, and the 10 nearest rows of each.
struct Asked {
  Asked(const VectorView& rows, const VectorView& asked) : queries(asked) {
    for (std::size_t q = 0; q < queries.count; ++q) {
      truth.push_back(nearest(queries.row(q), rows, 10));
    }
  }

  const VectorView queries;
  std::vector<std::vector<NodeId>> truth;
};

Found find(const Clustering& clusters, const Asked& asked, std::size_t probes) {
  std::vector<std::vector<NodeId>> members(clusters.count());
  const std::size_t rows = clusters.membership().count();
  for (NodeId v = 0; v < rows; ++v) {
    for (const ClusterId c : clusters.membership().of(v)) members[c].push_back(v);
  }
  const VectorView centroids = packed_view(clusters.centroids.data(), clusters.count(),
                                           asked.queries.dimension, ElementType::f32);
  Found found;
  const auto queries = static_cast<double>(asked.queries.count);
  for (std::size_t q = 0; q < asked.queries.count; ++q) {
    std::set<NodeId> seen;
    for (const NodeId c : nearest(asked.queries.row(q), centroids, probes)) {
      seen.insert(members[c].begin(), members[c].end());
    }
    for (const NodeId row : asked.truth[q]) found.recall += seen.contains(row) ? 0.1 / queries : 0;
    found.scanned += static_cast<double>(seen.size()) / queries;
  }
  return found;
}

TEST(ClusterMerge, NothingThatChangesChangesNothing) {
  const Rows rows = testing::cloud_rows(2000, kSmallDimension, 1);
  const ClusteringOptions options = quiet(2000);
  const Built former = build(rows.view(), options);
  ClusterMergeStats stats;
  const Built merged = merge(build(rows.view(), options), {}, rows.view(), options, &stats);
  EXPECT_EQ(merged.clusters.centroids, former.clusters.centroids);
  EXPECT_EQ(merged.clusters.begins, former.clusters.begins);
  EXPECT_EQ(merged.clusters.clusters, former.clusters.clusters);
  EXPECT_EQ(stats.splits + stats.dissolved + stats.moved + stats.distances, 0u);
}

TEST(ClusterMerge, RowsComeAndGo) {
  const Rows rows = testing::cloud_rows(3000, kSmallDimension, 2);
  for (const std::size_t base : {1u, 30u, 1500u, 2900u}) {
    for (const NodeId every : {0u, 1u, 3u}) {  // of the base, that go
      std::vector<NodeId> out;
      for (NodeId v = 0; every > 0 && v < base; v += every) out.push_back(v);
      VectorView now = rows.view();
      std::vector<float> kept;
      for (NodeId v = 0; v < 3000; ++v) {
        if (every > 0 && v < base && v % every == 0) continue;
        const auto* row = reinterpret_cast<const float*>(now.row(v));
        kept.insert(kept.end(), row, row + kSmallDimension);
      }
      now = packed_view(kept.data(), kept.size() / kSmallDimension, kSmallDimension,
                        ElementType::f32);
      ClusterMergeStats stats;
      const Built merged = merge(build(rows.view().part(0, base), quiet(base)), RowSet().with(out),
                                 now, quiet(now.count), &stats);
      expect_sound(merged, now.count);
      EXPECT_EQ(merged.clusters.count(), quiet(now.count).clusters) << base << " " << every;
    }
  }
}

TEST(ClusterMerge, HeadsOfSplitClustersAreVectors) {
  const Rows rows = testing::cloud_rows(3000, kSmallDimension, 12);
  ClusteringOptions options = quiet(1000);
  options.heads = HeadKind::vectors;
  options.closure = ClosureRule::sptag;
  Built former = build(rows.view().part(0, 1000), options);
  options.clusters = quiet(3000).clusters;
  ClusterMergeStats stats;
  const Built merged = merge(std::move(former), {}, rows.view(), options, &stats);
  EXPECT_GT(stats.splits, 0u);
  expect_sound(merged, 3000);
  std::set<std::vector<float>> all;
  for (std::size_t v = 0; v < 3000; ++v) {
    const auto* row = reinterpret_cast<const float*>(rows.view().row(v));
    all.emplace(row, row + kSmallDimension);
  }
  for (std::size_t c = 0; c < merged.clusters.count(); ++c) {
    const float* const head = &merged.clusters.centroids[c * kSmallDimension];
    EXPECT_EQ(all.count(std::vector<float>(head, head + kSmallDimension)), 1u) << c;
  }
}

TEST(ClusterMerge, ClustersGoWithTheirRows) {
  const Rows rows = testing::cloud_rows(3000, kSmallDimension, 3);
  const Built former = build(rows.view(), quiet(3000));
  std::vector<NodeId> out(2400);
  std::iota(out.begin(), out.end(), NodeId{0});
  const VectorView rest = rows.view().part(2400, 600);
  ClusterMergeStats stats;
  const Built merged =
      merge(build(rows.view(), quiet(3000)), RowSet().with(out), rest, quiet(600), &stats);
  expect_sound(merged, 600);
  EXPECT_EQ(merged.clusters.count(), quiet(600).clusters);
  EXPECT_GT(stats.dissolved, 0u);
  EXPECT_GE(find(merged.clusters, Asked(rest, rest.part(0, 50)), 8).recall, 0.9);
}

/// A cluster that stayed is told by its centroid; halves lie around that of the whole.
TEST(ClusterMerge, SaysWhichClusterEachWas) {
  const Rows rows = testing::cloud_rows(3000, kSmallDimension, 5);
  const ClusteringOptions options = quiet(1500);
  const Built former = build(rows.view().part(0, 1500), options);
  std::vector<NodeId> out(150);
  std::iota(out.begin(), out.end(), NodeId{0});
  ClusterMergeStats stats;
  const Built merged = merge(build(rows.view().part(0, 1500), options), RowSet().with(out),
                             rows.view().part(150, 2850), quiet(2850), &stats);
  EXPECT_GT(stats.splits, 0u);
  ASSERT_EQ(merged.origins.size(), merged.clusters.count());
  const auto pair = distance::pair_kernel(Metric::l2, ElementType::f32, kSmallDimension);
  const auto centroid = [](const Built& of, ClusterId c) {
    return &of.clusters.centroids[c * std::size_t{kSmallDimension}];
  };
  std::size_t stayed = 0;
  std::size_t close = 0;
  for (ClusterId c = 0; c < merged.clusters.count(); ++c) {
    const ClusterId origin = merged.origins[c];
    ASSERT_LT(origin, former.clusters.count());
    const float to_origin = pair(centroid(merged, c), centroid(former, origin), kSmallDimension);
    std::size_t nearer = 0;
    for (ClusterId f = 0; f < former.clusters.count(); ++f) {
      nearer += pair(centroid(merged, c), centroid(former, f), kSmallDimension) < to_origin;
    }
    stayed += to_origin == 0;
    close += nearer <= 2;
  }
  EXPECT_GT(stayed, 0u);
  EXPECT_GE(close, merged.clusters.count() * 9 / 10);
}

TEST(ClusterMerge, DoesNotDependOnTheThreads) {
  const Rows rows = testing::cloud_rows(3000, kSmallDimension, 4);
  std::vector<Built> merged;
  for (const unsigned threads : {1u, 3u}) {
    ClusteringOptions options = quiet(3000);
    options.threads = threads;
    merged.push_back(
        merge(build(rows.view().part(0, 2000), quiet(2000)), {}, rows.view(), options));
  }
  EXPECT_EQ(merged[0].clusters.centroids, merged[1].clusters.centroids);
  EXPECT_EQ(merged[0].clusters.clusters, merged[1].clusters.clusters);
  for (std::size_t c = 0; c < merged[0].centroids.count(); ++c) {
    ASSERT_TRUE(
        std::ranges::equal(merged[0].centroids.neighbors(c), merged[1].centroids.neighbors(c)));
  }
}

TEST(ClusterMerge, RowsThatAreAllEqualAreDividedTooOrNot) {
  const Rows rows(std::vector<float>(2000 * kSmallDimension, 1.5f), kSmallDimension,
                  ElementType::f32);
  const Built merged =
      merge(build(rows.view().part(0, 500), quiet(500)), {}, rows.view(), quiet(2000));
  expect_sound(merged, 2000);
}

TEST(ClusterMerge, TakesLongerRowsUnderInnerProduct) {
  std::vector<float> values = clouds(2000, kSmallDimension, 5);
  for (std::size_t i = 1500 * kSmallDimension; i < values.size(); ++i) values[i] *= 1.5f;
  const Rows rows(values, kSmallDimension, ElementType::f32);
  const Built merged = merge(build(rows.view().part(0, 1500), quiet(1500), Metric::inner_product),
                             {}, rows.view(), quiet(2000), nullptr, Metric::inner_product);
  expect_sound(merged, 2000);
  EXPECT_EQ(merged.clusters.space_dimension, kSmallDimension + 1);
}

TEST(ClusterMerge, EndsWhenItIsInterrupted) {
  const Rows rows = testing::cloud_rows(2000, kSmallDimension, 6);
  ClusteringOptions options = quiet(2000);
  options.interrupted = [] { return true; };
  EXPECT_THROW((void)merge(build(rows.view().part(0, 1000), quiet(1000)), {}, rows.view(), options),
               WorkInterrupted);
}

/// Distances of a merge of so many new rows into so many.
double cost(const Rows& rows, std::size_t base, std::size_t more) {
  ClusterMergeStats stats;
  (void)merge(build(rows.view().part(0, base), quiet(base)), {}, rows.view().part(0, base + more),
              quiet(base + more), &stats);
  return static_cast<double>(stats.distances + stats.estimates / 2 + stats.centroid_distances);
}

TEST(ClusterMerge, CostsWhatTheSmallerPartAsksFor) {
  const Rows rows = testing::cloud_rows(18'000, kSmallDimension, 7);
  const double some = cost(rows, 8000, 500);
  const double into_twice = cost(rows, 16'000, 500);
  const double twice = cost(rows, 8000, 1000);
  fmt::print(
      "a new row of 500 takes {:.0f} distances where 8,000 are, {:.0f} where 16,000; of 1,000 "
      "{:.0f}\n",
      some / 500, into_twice / 500, twice / 1000);
  EXPECT_LT(into_twice, 1.3 * some);
  EXPECT_GT(twice, 1.5 * some);
  EXPECT_LT(twice, 2.6 * some);
}

/// A quarter is built and the rest comes, at once or in pieces.
Built merged_in_pieces(const VectorView& rows, std::size_t merges) {
  const std::size_t base = rows.count / 4;
  Built merged = build(rows.part(0, base), quiet(base, 8));
  for (std::size_t i = 1; i <= merges; ++i) {
    const std::size_t now = base + (rows.count - base) * i / merges;
    merged = merge(std::move(merged), {}, rows.part(0, now), quiet(now, 8));
  }
  return merged;
}

#ifdef __SANITIZE_THREAD__
constexpr std::size_t kManyMerges = 8;  ///< forty take minutes
#else
constexpr std::size_t kManyMerges = 40;
#endif

/// Half of the queries choose the number of clusters to probe.
TEST(ClusterMerge, FindsAsMuchAfterManyAsClustersThatAreBuiltFromNothing) {
  const std::filesystem::path folder = tests::data_set("deep20k");
  const std::string skip = tests::no_data(folder);
  if (!skip.empty()) GTEST_SKIP() << skip;
  const dataset::VectorSet base = dataset::load((folder / "base.fbin").string());
  const dataset::VectorSet queries = dataset::load((folder / "query.fbin").string());
  const Built fresh = build(base.view(), quiet(base.count(), 8));
  const Asked tuning(base.view(), queries.view().part(0, 200));
  const Asked told(base.view(), queries.view().part(queries.count() / 2, 200));
  std::size_t probes = 1;
  while (find(fresh.clusters, tuning, probes).recall < 0.95) ++probes;
  const Found anew = find(fresh.clusters, told, probes);
  for (const std::size_t merges : {std::size_t{1}, kManyMerges}) {
    const Built merged = merged_in_pieces(base.view(), merges);
    expect_sound(merged, base.count(), 8);
    EXPECT_EQ(merged.clusters.count(), fresh.clusters.count());
    const Found now = find(merged.clusters, told, probes);
    fmt::print("{} clusters probed: recall {:.4f}, {:.0f} scanned; from nothing {:.4f}, {:.0f}\n",
               probes, now.recall, now.scanned, anew.recall, anew.scanned);
    EXPECT_GT(now.recall, anew.recall - 0.01) << merges;
    EXPECT_LT(now.scanned, 1.25 * anew.scanned) << merges;
  }
}

}  // namespace
}  // namespace farvec::cluster::merging
