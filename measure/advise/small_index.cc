#include "measure/advise/small_index.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/parallel.h"
#include "disk/disk_engine.h"
#include "disk/memory_queue.h"
#include "graph/sparse_vertices.h"
#include "indexing/cluster_recipe.h"
#include "indexing/graph_recipe.h"
#include "indexing/slotted_recipe.h"
#include "indexing/steering_words.h"
#include "search/disk/disk_records.h"
#include "search/disk/slotted_core.h"
#include "search/kinds/index_loader.h"

namespace farvec::measure {

namespace fs = std::filesystem;

namespace {

/// Writes the graph and returns the manifest that was written. Without `bits` the codes have the
/// bits that the sample needs.
layout::Manifest write_graph(const fs::path& out, const indexing::BuiltGraph& built,
                             layout::LayoutKind kind, std::optional<std::uint32_t> bits) {
  const layout::WriteOptions write{.overwrite = true, .threads = resolve_threads(0), .quiet = true};
  if (kind != layout::LayoutKind::slotted) {
    return indexing::write_graph(out, built, {.layout = kind, .code_bits = bits}, write);
  }
  return indexing::write_slotted(
      out, built, {.payload = layout::PayloadKind::vector, .code_bits = bits}, write);
}

/// Writes the graph with the bits of the recipe. Where they do not serve and recipe.code_bits does
/// not ask for them, writes it with the bits that the sample needs. In both cases the recipe then
/// has what was written.
void write_serving(const fs::path& out, const indexing::BuiltGraph& built, layout::LayoutKind kind,
                   GraphBuild& recipe) {
  layout::Manifest written = write_graph(out, built, kind, recipe.bits(kind));
  if (!written.graph().build.steering) return;
  if (!recipe.code_bits) written = write_graph(out, built, kind, std::nullopt);
  recipe.steering[kind] = {written.graph().build.code_bits,
                           indexing::steering_words(written, "--code-bits")};
}

}  // namespace

double write_graphs(const fs::path& directory, const Sample& sample, std::uint32_t degree,
                    SmallBuild& build) {
  GraphBuild& recipe = build.recipe;
  const unsigned threads = resolve_threads(build.threads);
  graph::VamanaOptions options;
  options.degree = degree;
  options.list = recipe.list;
  options.alpha = static_cast<float>(recipe.alpha);
  options.passes = recipe.passes;
  options.seed = build.seed;
  options.threads = threads;
  options.quiet = true;
  if (build.interrupted) options.interrupted = build.interrupted;
  const indexing::BuiltGraph built =
      indexing::build_graph({sample.manifest, sample.rows.view()}, options);
  fs::create_directory(directory);
  for (const layout::LayoutKind kind : build.graph_layouts) {
    write_serving(directory / to_string(kind), built, kind, recipe);
  }
  return static_cast<double>(graph::sparse_vertices(built.graph, degree)) /
         static_cast<double>(std::max<std::size_t>(built.graph.count(), 1));
}

void write_clusters(const fs::path& directory, const Sample& sample, const Partition& partition,
                    const std::vector<layout::ClusterLayoutKind>& layouts,
                    const SmallBuild& build) {
  const unsigned threads = resolve_threads(build.threads);
  cluster::ClusteringOptions options;
  options.clusters = indexing::cluster_count(sample.rows.count(), partition.cluster_rows);
  options.replicas = partition.replicas;
  options.seed = build.seed;
  options.threads = threads;
  options.quiet = true;
  options.interrupted = build.interrupted;
  const indexing::BuiltClusters built =
      indexing::build_clusters({sample.manifest, sample.rows.view()}, options);
  fs::create_directory(directory);
  for (const layout::ClusterLayoutKind kind : layouts) {
    indexing::write_clusters(directory / to_string(kind), built, {.layout = kind},
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
      index_(slotted::load_slotted_index(directory_, {.quiet = true})),
      files_{search::open_disk_records(directory_, "")},
      pages_(directory_.load_region(layout::kRecordsRegion, {.quiet = true})) {}

std::unique_ptr<search::SearchCore> OpenPages::make_core(
    const slotted::SlottedSearchOptions& options) const {
  using slotted::SlottedStore;
  auto store =
      std::make_shared<SlottedStore>(index_, directory_.load_page_map({.quiet = true}), options);
  return search::make_slotted_core(
      std::move(store), std::make_unique<disk::DiskEngine>(std::make_unique<disk::MemoryQueue>(
                            files_, pages_.span(), SlottedStore::reads_per_core(options))));
}

}  // namespace farvec::measure
