// Time per step of the cluster index: the grouping of many vectors, the search for the nearest
// clusters, one split of the k-means tree.
//   build/release/bin/cluster_bench --benchmark_filter=group
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <numeric>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "cluster/balanced_kmeans.h"
#include "cluster/centroid_index.h"
#include "cluster/grouping.h"

namespace farvec::cluster {
namespace {

std::vector<float> random_rows(std::size_t count, std::uint32_t dimension) {
  Random random(1);
  std::vector<float> rows(count * dimension);
  for (float& value : rows) value = static_cast<float>(100 * random.normal());
  return rows;
}

/// Vectors in 8 of 100,000 clusters each, whose frequencies differ.
void group(benchmark::State& state) {
  constexpr std::uint64_t kReplicas = 8, kClusters = 100'000;
  const auto vectors = static_cast<std::uint64_t>(state.range(0));
  Random random(1);
  std::vector<std::uint64_t> begins(vectors + 1), frequency(kClusters);
  std::vector<ClusterId> clusters(vectors * kReplicas);
  for (std::uint64_t v = 0; v <= vectors; ++v) begins[v] = v * kReplicas;
  for (ClusterId& c : clusters) c = static_cast<ClusterId>(random.below(kClusters));
  for (std::uint64_t& f : frequency) f = random.below(1000);
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(group_by_frequency({begins, clusters}, frequency, 0).data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(vectors) * state.iterations());
}

/// The nearest clusters of random queries among 8000 centroids of 128 dimensions: by the graph, or
/// by a look at all codes.
void search_centroids(benchmark::State& state) {
  constexpr std::uint32_t kDimension = 128;
  constexpr std::size_t kQueries = 500;
  const std::vector<float> centroids = random_rows(8000, kDimension);
  const CentroidIndex index({Metric::l2, ElementType::f32, kDimension, kDimension, centroids,
                             build_centroid_graph(centroids, kDimension, {1, 0}),
                             state.range(1) == 1});
  const std::vector<float> queries = random_rows(kQueries, kDimension);
  CentroidScratch scratch;
  std::size_t q = 0;
  for ([[maybe_unused]] auto _ : state) {
    index.search(&queries[q++ % kQueries * kDimension], static_cast<std::uint32_t>(state.range(0)),
                 scratch);
    benchmark::DoNotOptimize(scratch.found.data());
  }
}

/// 50,000 points of 128 dimensions into 32 parts, one thread.
void split(benchmark::State& state) {
  constexpr std::size_t kPoints = 50'000;
  const std::vector<float> values = random_rows(kPoints, 128);
  std::vector<NodeId> points(kPoints);
  std::iota(points.begin(), points.end(), NodeId{0});
  SplitOptions options;
  options.parts = 32;
  options.largest = kPoints * 3 / 2 / options.parts;
  for ([[maybe_unused]] auto _ : state) {
    const VectorView rows = packed_view(values.data(), kPoints, 128, ElementType::f32);
    benchmark::DoNotOptimize(BalancedKmeans(rows, points, options).run().sizes.data());
  }
}

BENCHMARK(group)->Arg(10'000'000)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(search_centroids)
    ->ArgsProduct({{1, 8, 32, 128}, {0, 1}})
    ->ArgNames({"probe", "scan"})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(split)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace farvec::cluster
