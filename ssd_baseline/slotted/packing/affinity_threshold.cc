#include "ssd_baseline/slotted/packing/affinity_threshold.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/finite.h"
#include "base/parallel.h"
#include "cluster/clustering.h"
#include "cluster/space.h"
#include "distance/distance.h"

namespace farvec::slotted {
namespace {

constexpr std::size_t kRowsPerCluster = 64;

/// Takes every n-th row, about `count` of them.
VectorView sample_of(const VectorView& data, std::size_t count) {
  const std::size_t step = std::max<std::size_t>(data.count / count, 1);
  VectorView sample = data;
  sample.count = (data.count + step - 1) / step;
  sample.stride_bytes = data.stride_bytes * step;
  return sample;
}

std::vector<std::vector<float>> distances_to_centroids(const VectorView& sample, Metric metric,
                                                       const cluster::Clustering& clusters,
                                                       unsigned threads) {
  const cluster::Space space(sample, metric, threads);
  const auto l2 = distance::pair_kernel(Metric::l2, ElementType::f32, space.dimension());
  const MembershipView membership = clusters.membership();
  std::vector<float> distances(sample.count);
  parallel_for(sample.count, 1024, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    std::vector<float> row(space.dimension());
    for (std::size_t i = begin; i < end; ++i) {
      space.row(i, row.data());
      const std::size_t own = membership.of(i).front();
      const float* centroid = clusters.centroids.data() + own * space.dimension();
      distances[i] = std::sqrt(std::max(l2(row.data(), centroid, space.dimension()), 0.0f));
    }
  });
  std::vector<std::vector<float>> of_clusters(clusters.count());
  for (std::size_t i = 0; i < sample.count; ++i) {
    of_clusters[membership.of(i).front()].push_back(distances[i]);
  }
  return of_clusters;
}

}  // namespace

float affinity_threshold(const VectorView& data, Metric metric,
                         const AffinityThresholdOptions& options) {
  if (data.count < 2) return 0;
  const unsigned threads = resolve_threads(options.threads);
  const auto clusters = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(data.count)));
  const VectorView sample = sample_of(data, kRowsPerCluster * clusters);
  cluster::ClusteringOptions sampled;
  sampled.clusters = clusters;
  sampled.replicas = 1;
  sampled.seed = options.seed;
  sampled.threads = threads;
  sampled.quiet = options.quiet;
  sampled.interrupted = options.interrupted;
  const cluster::Clustering clustering = cluster::build_clusters(sample, metric, sampled);
  double sum = 0;
  std::size_t used = 0;
  for (auto& distances : distances_to_centroids(sample, metric, clustering, threads)) {
    if (distances.empty()) continue;
    std::ranges::transform(distances, distances.begin(), orderable);
    std::sort(distances.begin(), distances.end());
    const auto at =
        static_cast<std::size_t>(options.percentile / 100 * static_cast<double>(distances.size()));
    sum += static_cast<double>(distances[std::min(at, distances.size() - 1)]);
    ++used;
  }
  const double tau = used == 0 ? 0 : sum / static_cast<double>(used);
  return static_cast<float>(tau * tau);
}

}  // namespace farvec::slotted
