#include "indexing/cluster_recipe.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "base/parallel.h"
#include "cluster/centroid_index.h"
#include "cluster/grouping.h"
#include "indexing/codes.h"
#include "layout/cluster/cluster_writer.h"
#include "quantization/member_encoder.h"

namespace farvec::indexing {
namespace {

/// How often each cluster will be probed, before anybody has counted: a query comes from where
/// there are many vectors.
std::vector<std::uint64_t> expected_frequencies(const cluster::Clustering& clusters) {
  std::vector<std::uint64_t> frequencies(clusters.count());
  for (const ClusterId cluster : clusters.clusters) ++frequencies[cluster];
  return frequencies;
}

layout::ClusterBuildParameters describe_build(const cluster::ClusteringOptions& options,
                                              const cluster::ClusteringStats& stats) {
  return {.replicas = options.replicas,
          .closure_ratio = static_cast<double>(stats.closure_ratio),
          .balance = static_cast<double>(options.balance),
          .sample = stats.sample,
          .seed = options.seed};
}

}  // namespace

std::uint32_t cluster_count(std::size_t rows, std::uint64_t rows_per_cluster) {
  return static_cast<std::uint32_t>((rows + rows_per_cluster - 1) / rows_per_cluster);
}

std::vector<ClusterId> expected_homes(const cluster::Clustering& clusters, unsigned threads) {
  return cluster::group_by_frequency(clusters.membership(), expected_frequencies(clusters),
                                     resolve_threads(threads));
}

BuiltClusters build_clusters(Source source, const cluster::ClusteringOptions& options) {
  const unsigned threads = resolve_threads(options.threads);
  BuiltClusters built;
  built.source = std::move(source);
  built.clusters = cluster::build_clusters(built.source.rows, built.source.manifest.metric, options,
                                           &built.stats);
  auto& part = built.source.manifest.part.emplace<layout::ClusterPart>();
  part.build = describe_build(options, built.stats);
  built.centroids = cluster::build_centroid_graph(
      built.clusters.centroids, built.clusters.space_dimension, options.seed, threads);
  built.homes = expected_homes(built.clusters, threads);
  return built;
}

namespace {

/// The codes of all members, and the header under which an index stores them.
struct EncodedMembers {
  quantization::MemberEncoder encoder;
  layout::CodesHeader header;

  layout::MemberCodes writer() const {
    return {header.bits, header.record_bytes,
            [this](ClusterId cluster, std::span<const NodeId> ids, std::span<std::byte> out) {
              encoder.encode(cluster, ids, out.data());
            }};
  }
  layout::CodesView view() const { return {header, encoder.codes().parameters().centroid, {}}; }
};

/// The centroids as rows of the vectors' dimension: without the coordinate more that a space has.
VectorView centroid_rows(const cluster::Clustering& clusters, std::uint32_t dimension) {
  return {reinterpret_cast<const std::byte*>(clusters.centroids.data()), clusters.count(),
          dimension, ElementType::f32, clusters.space_dimension * sizeof(float)};
}

std::unique_ptr<const EncodedMembers> encode_members(const BuiltClusters& built, std::uint32_t bits,
                                                     unsigned threads) {
  const cluster::Clustering& clusters = built.clusters;
  const VectorView& rows = built.source.rows;
  const layout::Manifest& manifest = built.source.manifest;
  quantization::MemberEncoder encoder(
      {rows, clusters.membership(), centroid_rows(clusters, rows.dimension)},
      {manifest.metric, bits, manifest.cluster().build.seed, threads});
  layout::CodesHeader header = codes_header(encoder.codes().parameters(), clusters.clusters.size());
  header.record_bytes = encoder.codes().bytes(layout::kCodeBlock);
  return std::make_unique<const EncodedMembers>(std::move(encoder), header);
}

}  // namespace

layout::Manifest write_clusters(const std::filesystem::path& directory, const BuiltClusters& built,
                                const ClusterRecipe& recipe, const layout::WriteOptions& options) {
  const cluster::Clustering& clusters = built.clusters;
  layout::Manifest manifest = built.source.manifest;
  manifest.cluster().geometry.kind = recipe.layout;
  layout::ClusterContents contents{clusters.membership(), built.homes, built.source.rows,
                                   static_cast<std::uint32_t>(clusters.count()),
                                   recipe.record_checksum};
  layout::CentroidsView centroids{clusters.centroids, clusters.space_dimension,
                                  built.centroids.view()};
  std::unique_ptr<const EncodedMembers> encoded;
  if (recipe.layout == layout::ClusterLayoutKind::coded) {
    encoded = encode_members(built, recipe.code_bits, options.threads);
    contents.codes = encoded->writer();
    centroids.codes = encoded->view();
  }
  return layout::write_cluster_index(directory, std::move(manifest), contents, centroids, options);
}

}  // namespace farvec::indexing
