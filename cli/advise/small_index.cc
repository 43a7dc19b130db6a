#include "cli/advise/small_index.h"

#include <utility>

#include "base/parallel.h"
#include "cli/index/build_input.h"
#include "cli/index/slotted_build.h"
#include "cluster/centroid_index.h"
#include "cluster/clustering.h"
#include "cluster/grouping.h"
#include "disk/disk_engine.h"
#include "disk/memory_queue.h"
#include "graph/vamana_builder.h"
#include "indexing/codes.h"
#include "layout/cluster/cluster_writer.h"
#include "layout/region/index_writer.h"
#include "search/disk_records.h"
#include "search/index_loader.h"
#include "search/slotted_core.h"

namespace farvec::cli {

namespace fs = std::filesystem;

namespace {

void write_memory_graph(const fs::path& directory, layout::Manifest manifest,
                        const BuiltGraph& built, unsigned threads) {
  const VectorView& rows = built.rows;
  const indexing::EncodedRows encoded = indexing::encode_whole(
      rows, manifest.metric, {built.code_bits, manifest.graph().build.seed, threads});
  layout::write_index(directory, std::move(manifest), {built.graph.view(), rows, encoded.view()},
                      {.threads = threads, .quiet = true});
}

}  // namespace

void write_graphs(const fs::path& directory, const Sample& sample, std::uint32_t degree,
                  const SmallBuild& build) {
  const GraphRecipe& recipe = build.recipe;
  const VectorView rows = sample.rows.view();
  const unsigned threads = resolve_threads(build.threads);
  layout::Manifest manifest = sample.manifest;
  layout::GraphPart& part = manifest.graph();
  part.max_degree = degree;
  part.build = {degree, recipe.list, recipe.alpha, recipe.passes, build.seed, recipe.code_bits};
  graph::VamanaOptions options;
  options.degree = degree;
  options.list = recipe.list;
  options.alpha = static_cast<float>(recipe.alpha);
  options.passes = recipe.passes;
  options.seed = build.seed;
  options.threads = threads;
  options.quiet = true;
  graph::VamanaStats stats;
  const graph::Graph graph = graph::build_vamana(rows, manifest.metric, options, &stats);
  const BuiltGraph built{graph, stats, rows, recipe.code_bits};
  fs::create_directory(directory);
  for (const layout::LayoutKind kind : build.graph_layouts) {
    const fs::path out = directory / to_string(kind);
    part.layout = kind;
    if (kind == layout::LayoutKind::slotted) {
      SlottedOptions slotted;
      slotted.payload = "vector";
      write_slotted(out, manifest, built, slotted, {.threads = threads, .quiet = true});
    } else {
      write_memory_graph(out, manifest, built, threads);
    }
  }
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
  auto& part = manifest.part.emplace<layout::ClusterPart>();
  part.build = {partition.replicas, static_cast<double>(stats.closure_ratio),
                static_cast<double>(options.balance), stats.sample, build.seed};
  const graph::Graph centroids = cluster::build_centroid_graph(
      clusters.centroids, clusters.space_dimension, build.seed, threads);
  const std::vector<ClusterId> homes = cluster::group_by_frequency(
      clusters.membership(), expected_frequencies(clusters.membership(), options.clusters),
      threads);
  fs::create_directory(directory);
  for (const layout::ClusterLayoutKind kind : layouts) {
    part.geometry.kind = kind;
    layout::write_cluster_index(directory / to_string(kind), manifest,
                                {clusters.membership(), homes, rows, options.clusters, false},
                                {clusters.centroids, clusters.space_dimension, centroids.view()},
                                {.threads = threads, .quiet = true});
  }
}

OpenIndex::OpenIndex(const fs::path& directory, const tiers::TierSpec& tier)
    : directory_(layout::IndexDirectory::open(directory)),
      index_(search::load_search_index(directory_, {.quiet = true})),
      records_(directory_),
      tier_(tier, {.memory = &records_, .index = &index_}) {}

OpenPages::OpenPages(const fs::path& directory)
    : directory_(layout::IndexDirectory::open(directory)),
      index_(ssd_baseline::load_slotted_index(directory_, {.quiet = true})),
      files_{search::open_disk_records(directory_, "")},
      pages_(directory_.load_region(layout::kRecordsRegion, {.quiet = true})) {}

std::unique_ptr<search::SearchCore> OpenPages::make_core(
    const ssd_baseline::SlottedSearchOptions& options) const {
  using ssd_baseline::SlottedStore;
  auto store =
      std::make_shared<SlottedStore>(index_, directory_.load_page_map({.quiet = true}), options);
  return search::make_slotted_core(
      std::move(store), std::make_unique<disk::DiskEngine>(std::make_unique<disk::MemoryQueue>(
                            files_, pages_.span(), SlottedStore::reads_per_core(options))));
}

}  // namespace farvec::cli
