#include "indexing/order/cluster_order.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "cluster/balanced_kmeans.h"
#include "distance/distance.h"
#include "indexing/order/row_keys.h"

namespace farvec::indexing {
namespace {

/// The clusters of a chunk: which row is in which, and their centroids.
struct ChunkClusters {
  std::vector<float> centers;
  std::vector<std::uint32_t> cluster_of;
};

/// Clusters the rows that `chunk` names. It is plain k-means, so one cluster may hold them all.
ChunkClusters cluster_chunk(const VectorView& rows, std::span<const NodeId> chunk,
                            const cluster::SplitOptions& options) {
  HugeBuffer buffer(chunk.size() * rows.dimension * sizeof(float));
  auto* values = reinterpret_cast<float*>(buffer.data());
  std::vector<NodeId> points(chunk.size());
  std::iota(points.begin(), points.end(), NodeId{0});
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    distance::widen(rows.row(chunk[i]), rows.type, rows.dimension, values + i * rows.dimension);
  }
  const VectorView wide = packed_view(values, chunk.size(), rows.dimension, ElementType::f32);
  cluster::Split split = cluster::BalancedKmeans(wide, points, options).run();
  return {std::move(split.centers), std::move(split.part_of)};
}

/// Walks from cluster to cluster, and from chunk to chunk.
class ClusterPath {
 public:
  explicit ClusterPath(std::uint32_t dimension)
      : dimension_(dimension),
        l2_(distance::pair_kernel(Metric::l2, ElementType::f32, dimension)) {}

  /// The centroid that the path has reached; empty at its beginning.
  const std::vector<float>& end() const { return end_; }

  /// Returns the clusters of the next chunk in the order of the path.
  std::vector<std::uint32_t> extend(const std::vector<float>& centers) {
    std::vector<std::uint32_t> left(centers.size() / dimension_);
    std::iota(left.begin(), left.end(), 0u);
    std::vector<std::uint32_t> path;
    while (!left.empty()) {
      const auto next = end_.empty() ? left.begin() : nearest(centers, left);
      const float* center = &centers[*next * std::size_t{dimension_}];
      end_.assign(center, center + dimension_);
      path.push_back(*next);
      left.erase(next);
    }
    return path;
  }

 private:
  std::vector<std::uint32_t>::iterator nearest(const std::vector<float>& centers,
                                               std::vector<std::uint32_t>& left) const {
    return std::min_element(left.begin(), left.end(), [&](std::uint32_t a, std::uint32_t b) {
      return from_end(centers, a) < from_end(centers, b);
    });
  }
  float from_end(const std::vector<float>& centers, std::uint32_t cluster) const {
    return l2_(end_.data(), &centers[cluster * std::size_t{dimension_}], dimension_);
  }

  const std::uint32_t dimension_;
  const distance::PairKernel l2_;
  std::vector<float> end_;
};

/// Writes the members of the clusters along `path`. The members of a cluster are ordered by their
/// places along the line from the centroid before it to the centroid after it. `before` is the last
/// centroid of the chunk before.
class PathWriter {
 public:
  PathWriter(const VectorView& rows, std::span<const NodeId> chunk, const ChunkClusters& clusters)
      : rows_(rows),
        chunk_(chunk),
        clusters_(clusters),
        product_(distance::pair_kernel(Metric::inner_product, ElementType::f32, rows.dimension)) {}

  void write(std::span<const std::uint32_t> path, const std::vector<float>& before, NodeId* out) {
    std::vector<std::vector<NodeId>> members(path.size());
    for (std::size_t i = 0; i < chunk_.size(); ++i) {
      members[clusters_.cluster_of[i]].push_back(chunk_[i]);
    }
    for (std::size_t i = 0; i < path.size(); ++i) {
      const float* from = i > 0            ? center(path[i - 1])
                          : before.empty() ? center(path[i])
                                           : before.data();
      const float* to = center(path[std::min(i + 1, path.size() - 1)]);
      out = write_sorted(members[path[i]], from, to, out);
    }
  }

 private:
  const float* center(std::uint32_t cluster) const {
    return &clusters_.centers[cluster * std::size_t{rows_.dimension}];
  }

  NodeId* write_sorted(const std::vector<NodeId>& members, const float* from, const float* to,
                       NodeId* out) const {
    std::vector<float> line(rows_.dimension), row(rows_.dimension), keys;
    for (std::uint32_t d = 0; d < rows_.dimension; ++d) line[d] = to[d] - from[d];
    for (const NodeId id : members) {
      distance::widen(rows_.row(id), rows_.type, rows_.dimension, row.data());
      keys.push_back(-product_(row.data(), line.data(), rows_.dimension));
    }
    for (const NodeId place : order_by_keys(keys)) *out++ = members[place];
    return out;
  }

  const VectorView& rows_;
  const std::span<const NodeId> chunk_;
  const ChunkClusters& clusters_;
  const distance::PairKernel product_;
};

void check_options(const ClusterOrderOptions& options) {
  if (options.clusters == 0 || options.chunk_rows < options.clusters) {
    throw Error(
        "chunks of {} rows cannot have {} clusters: ask for at least one, and for as many "
        "rows",
        options.chunk_rows, options.clusters);
  }
}

cluster::SplitOptions split_options(const ClusterOrderOptions& options, std::size_t chunk,
                                    std::size_t rows) {
  cluster::SplitOptions split;
  split.parts = static_cast<std::uint32_t>(std::min<std::size_t>(options.clusters, rows));
  split.largest = rows;
  split.seed = options.seed + chunk;
  return split;
}

}  // namespace

std::vector<NodeId> order_by_clusters(const VectorView& rows, std::span<const NodeId> order,
                                      const ClusterOrderOptions& options) {
  check_options(options);
  const std::size_t chunks = (order.size() + options.chunk_rows - 1) / options.chunk_rows;
  std::vector<NodeId> result(order.size());
  std::vector<ChunkClusters> clusters(chunks);
  const auto chunk_at = [&](std::size_t c) {
    const std::size_t begin = c * options.chunk_rows;
    return order.subspan(begin, std::min(options.chunk_rows, order.size() - begin));
  };
  parallel_for(chunks, 1, options.threads, [&](std::size_t c, std::size_t, unsigned) {
    const auto chunk = chunk_at(c);
    clusters[c] = cluster_chunk(rows, chunk, split_options(options, c, chunk.size()));
  });
  std::vector<std::vector<std::uint32_t>> paths(chunks);
  std::vector<std::vector<float>> befores(chunks);
  ClusterPath path(rows.dimension);
  for (std::size_t c = 0; c < chunks; ++c) {
    befores[c] = path.end();
    paths[c] = path.extend(clusters[c].centers);
  }
  parallel_for(chunks, 1, options.threads, [&](std::size_t c, std::size_t, unsigned) {
    PathWriter(rows, chunk_at(c), clusters[c])
        .write(paths[c], befores[c], &result[c * options.chunk_rows]);
  });
  return result;
}

}  // namespace farvec::indexing
