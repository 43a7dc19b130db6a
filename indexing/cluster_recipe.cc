#include "indexing/cluster_recipe.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "cluster/centroid_index.h"
#include "cluster/grouping.h"
#include "indexing/chosen_codes.h"
#include "indexing/code_bits.h"
#include "indexing/codes.h"
#include "layout/index/cluster_writer.h"
#include "quantization/member_encoder.h"

namespace farvec::indexing {
namespace {

void check_probing(const QuerySample& sample, const VectorView& rows) {
  if (sample.probe == 0) throw Error("queries of the sample probe at least one cluster");
  check_sample(sample.queries, rows);
}

/// Returns how often the sample probes each cluster.
std::vector<std::uint64_t> sampled_frequencies(const BuiltClusters& built,
                                               const QuerySample& sample,
                                               const cluster::ClusteringOptions& options) {
  const VectorView& rows = built.source.rows;
  const cluster::CentroidIndex index(
      {built.source.manifest.metric, rows.type, rows.dimension, built.clusters.space_dimension,
       built.clusters.centroids, graph::copy_of(built.centroids)},
      resolve_threads(options.threads));
  std::vector<std::uint64_t> frequencies(built.clusters.count());
  cluster::CentroidScratch scratch;
  Progress progress("queries of the sample", sample.queries.count, options.quiet,
                    options.interrupted);
  for (std::size_t i = 0; i < sample.queries.count; ++i) {
    index.search(sample.queries.row(i), sample.probe, scratch);
    for (const cluster::NearCluster& near : scratch.found) ++frequencies[near.cluster];
    progress.advance(1);
  }
  return frequencies;
}

layout::ClusterBuildParameters describe_build(const cluster::ClusteringOptions& options,
                                              const cluster::ClusteringStats& stats) {
  return {.replicas = options.replicas,
          .heads = options.heads,
          .closure = options.closure,
          .closure_ratio = static_cast<double>(stats.closure_ratio),
          .rng_factor = static_cast<double>(stats.rng_factor),
          .balance = static_cast<double>(options.balance),
          .sample = stats.sample,
          .seed = options.seed};
}

}  // namespace

std::uint32_t cluster_count(std::size_t rows, std::uint64_t rows_per_cluster) {
  return static_cast<std::uint32_t>((rows + rows_per_cluster - 1) / rows_per_cluster);
}

bool ClusterNumber::is_said_once_at_most() const {
  return (clusters > 0 ? 1 : 0) + (bytes > 0 ? 1 : 0) + (head_ratio != 0 ? 1 : 0) <= 1;
}

HeadKind ClusterNumber::heads() const {
  return clusters > 0 || bytes > 0 ? HeadKind::means : HeadKind::vectors;
}

ClosureRule ClusterNumber::closure() const {
  return clusters > 0 || bytes > 0 ? ClosureRule::fitted : ClosureRule::sptag;
}

std::uint32_t ClusterNumber::of(const VectorView& rows) const {
  if (bytes > 0) {
    return cluster_count(rows.count, std::max<std::uint64_t>(bytes / rows.row_bytes(), 1));
  }
  if (clusters > 0) return clusters;
  const double ratio = head_ratio != 0 ? head_ratio : kHeadRatio;
  if (!(ratio > 0 && ratio <= 1)) {
    throw Error("head ratio {} is out of range: use a number above 0, at most 1", ratio);
  }
  return static_cast<std::uint32_t>(std::ceil(ratio * static_cast<double>(rows.count)));
}

std::vector<ClusterId> expected_homes(const cluster::Clustering& clusters, unsigned threads) {
  return cluster::group_by_frequency(clusters.membership(), {}, threads);
}

BuiltClusters build_clusters(Source source, const cluster::ClusteringOptions& options,
                             const std::optional<QuerySample>& sample) {
  if (sample) check_probing(*sample, source.rows);
  const unsigned threads = resolve_threads(options.threads);
  BuiltClusters built;
  built.source = std::move(source);
  built.clusters = cluster::build_clusters(built.source.rows, built.source.manifest.metric, options,
                                           &built.stats);
  auto& description = built.source.manifest.description.emplace<layout::ClusterDescription>();
  description.build = describe_build(options, built.stats);
  built.centroids =
      cluster::build_centroid_graph(built.clusters.centroids, built.clusters.space_dimension,
                                    {options.seed, threads, options.quiet, options.interrupted});
  built.homes =
      sample ? cluster::group_by_frequency(built.clusters.membership(),
                                           sampled_frequencies(built, *sample, options), threads)
             : expected_homes(built.clusters, threads);
  return built;
}

namespace {

/// The codes of all members, the header under which an index stores them, and why they were chosen.
struct EncodedMembers {
  std::unique_ptr<const quantization::MemberEncoder> encoder;
  layout::CodesHeader header;
  std::optional<layout::SteeringFacts> why;

  layout::MemberCodes writer() const {
    return {header.bits, header.record_bytes,
            [this](ClusterId cluster, std::span<const NodeId> ids, std::span<std::byte> out) {
              encoder->encode(cluster, ids, out.data());
            }};
  }
  layout::CodesView view() const { return {header, encoder->codes().parameters().centroid, {}}; }
};

/// Returns the centroids as rows of the vectors' dimension: without the additional coordinate that
/// a space has.
VectorView centroid_rows(const cluster::Clustering& clusters, std::uint32_t dimension) {
  return {reinterpret_cast<const std::byte*>(clusters.centroids.data()), clusters.count(),
          dimension, ElementType::f32, clusters.space_dimension * sizeof(float)};
}

EncodedMembers encode_members(const BuiltClusters& built, std::optional<std::uint32_t> bits,
                              const layout::WriteOptions& options) {
  const cluster::Clustering& clusters = built.clusters;
  const VectorView& rows = built.source.rows;
  const layout::Manifest& manifest = built.source.manifest;
  auto chosen = choose_member_codes(
      {{rows, clusters.membership(), centroid_rows(clusters, rows.dimension)}, manifest.metric},
      {bits, kMemberCodeBits},
      {kMemberCodeBits, manifest.cluster().build.seed, options.threads, options.interrupted,
       options.quiet});
  const quantization::NeighborCodes& codes = chosen.codes->codes();
  layout::CodesHeader header = codes_header(codes.parameters(), clusters.clusters.size());
  header.record_bytes = codes.bytes(layout::kCodeBlock);
  return {std::move(chosen.codes), header, chosen.why};
}

}  // namespace

layout::Manifest write_clusters(const std::filesystem::path& directory, const BuiltClusters& built,
                                const ClusterRecipe& recipe, const layout::WriteOptions& options) {
  require_codes_fit(built.source.rows.type, recipe.layout);
  const cluster::Clustering& clusters = built.clusters;
  layout::Manifest manifest = built.source.manifest;
  manifest.cluster().geometry.kind = recipe.layout;
  layout::ClusterContents contents{clusters.membership(), built.homes, built.source.rows,
                                   static_cast<std::uint32_t>(clusters.count()),
                                   recipe.record_checksum};
  layout::CentroidsView centroids{clusters.centroids, clusters.space_dimension,
                                  built.centroids.view()};
  std::optional<const EncodedMembers> encoded;
  manifest.cluster().build.steering.reset();
  if (recipe.layout == layout::ClusterLayoutKind::coded) {
    encoded.emplace(encode_members(built, recipe.code_bits, options));
    manifest.cluster().build.steering = encoded->why;
    contents.codes = encoded->writer();
    centroids.codes = encoded->view();
  }
  return layout::write_cluster_index(directory, std::move(manifest), contents, centroids, options);
}

}  // namespace farvec::indexing
