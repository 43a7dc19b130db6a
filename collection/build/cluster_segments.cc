// This file makes segments that are clusters.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "cluster/clustering.h"
#include "collection/build/segment_maker.h"
#include "collection/build/segment_source.h"
#include "collection/segment/segment_folder.h"
#include "dataset/vector_set.h"
#include "indexing/cluster_merge_recipe.h"
#include "indexing/cluster_recipe.h"
#include "indexing/row_order.h"
#include "indexing/stored_clusters.h"

namespace farvec::collection {
namespace {

cluster::ClusteringOptions clustering_options(std::size_t rows, const SegmentRecipe& recipe) {
  const layout::CollectionManifest& manifest = *recipe.manifest;
  const layout::ClusterSegmentOptions& clusters = manifest.options.clusters;
  const std::size_t row_bytes = packed_bytes(manifest.segment_type(), manifest.dimension);
  cluster::ClusteringOptions options;
  options.clusters =
      indexing::cluster_count(rows, std::max<std::uint64_t>(clusters.cluster_bytes / row_bytes, 1));
  options.replicas = clusters.replicas;
  options.closure_ratio = static_cast<float>(clusters.closure_ratio);
  options.balance = static_cast<float>(clusters.balance);
  options.threads = recipe.threads;
  options.quiet = true;
  options.interrupted = [&recipe] { return recipe.interrupted(); };
  return options;
}

/// Writes the clusters, and the second copy of their rows where `whole` has one. Null: it has none.
std::shared_ptr<Segment> write_clusters(const indexing::BuiltClusters& built,
                                        const SegmentSource* whole, const RowFacts& facts,
                                        const SegmentRecipe& recipe) {
  return write_segment(
      [&](const layout::WriteOptions& write) {
        const layout::Manifest written = indexing::write_clusters(
            recipe.folder, built, {.layout = recipe.manifest->options.clusters.layout}, write);
        if (whole != nullptr) whole->write_second(recipe.folder, written, write);
      },
      facts, recipe);
}

/// Returns the probes of the segment that this process and those that follow have counted.
std::vector<std::uint64_t> probes_of(const Segment& segment, const SegmentRecipe& recipe) {
  search::ProbeTally probes = segment.records().probes().value();
  if (recipe.followers != nullptr) {
    recipe.followers->add_probes(segment.number(), probes,
                                 [&recipe] { return recipe.interrupted(); });
  }
  return std::move(probes.counts);
}

/// Halves the counts, because what was counted before is worth half as much as what will be.
std::vector<std::uint64_t> halved(std::vector<std::uint64_t> probes) {
  for (std::uint64_t& count : probes) count /= 2;
  return probes;
}

indexing::StoredClusters read_cluster_segment(const Segment& segment, const SegmentRecipe& recipe) {
  return indexing::read_clusters(segment.folder().directory(), load_options(recipe));
}

std::shared_ptr<Segment> build_cluster_segment(indexing::Source source, const RowFacts& facts,
                                               const SegmentRecipe& recipe) {
  const SegmentSource made(std::move(source), recipe);
  const cluster::ClusteringOptions options = clustering_options(facts.ids.size(), recipe);
  return write_clusters(indexing::build_clusters(made.source(), options), &made, facts, recipe);
}

std::shared_ptr<Segment> build_from_memtable(indexing::Source source, const FrozenRows& frozen,
                                             const SegmentRecipe& recipe) {
  return build_cluster_segment(std::move(source), frozen.facts, recipe);
}

/// Says whether vectors of the segment lie where the joined source has them.
bool is_reduced_alike(const Segment& segment, const SegmentSource& joined) {
  return segment.folder().second()->facts().parameters == joined.second_facts().parameters;
}

dataset::VectorSet copy_of(const VectorView& rows) {
  dataset::VectorSet copy(rows.count, rows.dimension, rows.type);
  std::memcpy(copy.mutable_row(0), rows.row(0), rows.count * rows.row_bytes());
  return copy;
}

/// Writes clusters that were merged, whose probes then count half as much.
std::shared_ptr<Segment> write_merged(indexing::StoredClusters merged, const SegmentSource* whole,
                                      const RowFacts& facts, const SegmentRecipe& recipe) {
  recipe.watch->linked(facts.ids.size());
  const std::vector<std::uint64_t> probes = halved(merged.probes);
  auto segment = write_clusters(std::move(merged).built(recipe.threads), whole, facts, recipe);
  segment->records().take_probes(probes);
  return segment;
}

/// Merges segments whose vectors were reduced, each in its own way: all rows are reduced anew. The
/// clusters are built anew where the vectors of the largest segment do not stay what they are.
std::shared_ptr<Segment> merge_reduced_clusters(const JoinedRows& joined,
                                                const SegmentRecipe& recipe) {
  const View::Bulk& largest = *joined.segments.front();
  JoinedSource rows(joined, recipe);
  recipe.watch->enter(BuildPhase::linking);
  const cluster::ClusteringOptions options = clustering_options(joined.facts.ids.size(), recipe);
  if (!is_reduced_alike(*largest.segment, rows.source())) {
    if (!joined.order.empty()) rows.reorder(joined.order);
    return write_clusters(indexing::build_clusters(rows.source().source(), options), &rows.source(),
                          joined.facts, recipe);
  }
  indexing::StoredClusters stored = read_cluster_segment(*largest.segment, recipe);
  stored.probes = probes_of(*largest.segment, recipe);
  const indexing::Source source = rows.source().source();
  indexing::StoredClusters merged = indexing::merge_joined_clusters(
      std::move(stored), {*largest.out, copy_of(source.rows)}, options);
  if (!joined.order.empty()) {
    indexing::reorder(merged, joined.order, recipe.threads);
    rows.reorder(joined.order);
  }
  const layout::Manifest described = rows.source().source().manifest;
  merged.manifest.dataset = described.dataset;
  merged.manifest.second_copy = described.second_copy;
  return write_merged(std::move(merged), &rows.source(), joined.facts, recipe);
}

std::shared_ptr<Segment> merge_cluster_segments(const JoinedRows& joined,
                                                const SegmentRecipe& recipe) {
  if (recipe.manifest->options.store) return merge_reduced_clusters(joined, recipe);
  const View::Bulk& largest = *joined.segments.front();
  const auto read_rows = [&](const Segment& segment) {
    return std::move(read_cluster_segment(segment, recipe).rows);
  };
  indexing::IndexChanges changes{*largest.out,
                                 rows_of_all(joined.segments.subspan(1), recipe, read_rows)};
  indexing::StoredClusters stored = read_cluster_segment(*largest.segment, recipe);
  stored.probes = probes_of(*largest.segment, recipe);
  recipe.watch->enter(BuildPhase::linking);
  const cluster::ClusteringOptions options = clustering_options(joined.facts.ids.size(), recipe);
  indexing::StoredClusters merged =
      indexing::merge_clusters(std::move(stored), std::move(changes), options);
  if (!joined.order.empty()) indexing::reorder(merged, joined.order, recipe.threads);
  return write_merged(std::move(merged), nullptr, joined.facts, recipe);
}

}  // namespace

const SegmentMaker kClusterMaker{.from_rows = build_cluster_segment,
                                 .from_memtable = build_from_memtable,
                                 .from_segments = merge_cluster_segments};

}  // namespace farvec::collection
