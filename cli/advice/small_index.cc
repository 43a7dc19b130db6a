#include "cli/advice/small_index.h"

#include <utility>

#include "base/parallel.h"
#include "cli/build_input.h"
#include "cluster/centroid_index.h"
#include "cluster/clustering.h"
#include "cluster/grouping.h"
#include "compute_node/index_loader.h"
#include "graph/vamana_builder.h"
#include "layout/cluster_writer.h"
#include "layout/index_writer.h"
#include "quantization/rabitq.h"

namespace farvec::cli {

namespace fs = std::filesystem;

void write_graph(const fs::path& directory, const Sample& sample, std::uint32_t degree,
                 const SmallBuild& build) {
  const GraphRecipe& recipe = build.recipe;
  const VectorView rows = sample.rows.view();
  const unsigned threads = resolve_threads(build.threads);
  layout::Manifest manifest = sample.manifest;
  manifest.max_degree = degree;
  manifest.build = {degree, recipe.list, recipe.alpha, recipe.passes, build.seed, recipe.code_bits};
  graph::VamanaOptions options;
  options.degree = degree;
  options.list = recipe.list;
  options.alpha = static_cast<float>(recipe.alpha);
  options.passes = recipe.passes;
  options.seed = build.seed;
  options.threads = threads;
  options.quiet = true;
  const graph::Graph graph = graph::build_vamana(rows, manifest.metric, options);
  const quantization::Rabitq quantizer(
      quantization::Rabitq::train(rows, manifest.metric, recipe.code_bits, build.seed, threads));
  HugeBuffer codes(rows.count * quantizer.record_bytes());
  quantizer.encode(rows, codes.data(), threads);
  const auto& parameters = quantizer.parameters();
  layout::write_index(
      directory, std::move(manifest),
      {graph.view(),
       rows,
       {compute_node::codes_header(parameters, rows.count), parameters.centroid, codes.span()}},
      {.threads = threads, .quiet = true});
}

void write_clusters(const fs::path& directory, const Sample& sample, const Partition& partition,
                    const std::vector<layout::ClusterLayoutKind>& layouts,
                    const SmallBuild& build) {
  const VectorView rows = sample.rows.view();
  const unsigned threads = resolve_threads(build.threads);
  cluster::ClusteringOptions options;
  options.clusters = static_cast<std::uint32_t>((rows.count + partition.cluster_rows - 1) /
                                                partition.cluster_rows);
  options.replicas = partition.replicas;
  options.seed = build.seed;
  options.threads = threads;
  options.quiet = true;
  layout::Manifest manifest = sample.manifest;
  cluster::ClusteringStats stats;
  const cluster::Clustering clusters =
      cluster::build_clusters(rows, manifest.metric, options, &stats);
  manifest.cluster_build = {partition.replicas, static_cast<double>(stats.closure_ratio),
                            static_cast<double>(options.balance), stats.sample, build.seed};
  const graph::Graph centroids = cluster::build_centroid_graph(
      clusters.centroids, clusters.space_dimension, build.seed, threads);
  const std::vector<ClusterId> homes = cluster::group_by_frequency(
      clusters.membership(), expected_frequencies(clusters.membership(), options.clusters),
      threads);
  fs::create_directory(directory);
  for (const layout::ClusterLayoutKind kind : layouts) {
    manifest.cluster.kind = kind;
    layout::write_cluster_index(directory / to_string(kind), manifest,
                                {clusters.membership(), homes, rows, options.clusters, false},
                                {clusters.centroids, clusters.space_dimension, centroids.view()},
                                {.threads = threads, .quiet = true});
  }
}

OpenIndex::OpenIndex(const fs::path& directory, const transport::TierSpec& tier)
    : directory_(layout::IndexDirectory::open(directory)),
      index_(compute_node::load_search_index(directory_, {.quiet = true})),
      memory_(directory_),
      tier_(tier, index_, memory_, {}) {}

}  // namespace farvec::cli
