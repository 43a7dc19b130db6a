#include "python/index_builds.h"

#include <algorithm>
#include <utility>

#include "base/parallel.h"
#include "base/stored_form.h"
#include "base/version.h"
#include "graph/sparse_vertices.h"
#include "indexing/cluster_recipe.h"
#include "indexing/code_bits.h"
#include "indexing/graph_recipe.h"
#include "indexing/source.h"
#include "indexing/steering_words.h"
#include "python/errors.h"
#include "python/jobs.h"
#include "ssd_baseline/paged/build/hnsw_destination.h"
#include "ssd_baseline/paged/graph/hnsw_access.h"
#include "ssd_baseline/paged/graph/hnsw_facts.h"

namespace farvec::python {
namespace {

/// Holds rows in stored form, and what a manifest says of them.
class Prepared {
 public:
  Prepared(SourceRows& rows, const CommonBuild& build, unsigned threads) {
    const VectorView& source =
        rows.load({.allow_nonfinite = build.allow_nonfinite, .metric = build.metric});
    layout::check_destination(build.out, build.overwrite, source.count * source.row_bytes());
    source_ = {indexing::describe_source({rows.path(), build.name}, source, build.metric), source};
    if (!stores_unit_vectors(build.metric)) {
      indexing::require_comparable(source, threads);
    } else {
      normalised_ = indexing::stored_copy(source, build.metric, threads);
      source_.rows = normalised_->view();
    }
    if (build.reduction) reduced_.emplace(source_, *build.reduction, threads);
  }

  /// Returns what the index is built of.
  indexing::Source source() const { return reduced_ ? reduced_->source() : source_; }
  /// Writes what belongs beside the index.
  void write_beside(const std::string& out, const layout::Manifest& manifest,
                    const layout::WriteOptions& options) const {
    if (reduced_) reduced_->write_second(out, manifest, options);
  }

 private:
  indexing::Source source_;
  std::optional<dataset::VectorSet> normalised_;
  std::optional<indexing::ReducedSource> reduced_;
};

nlohmann::ordered_json facts_of(const CommonBuild& build, const layout::Manifest& manifest) {
  const auto bytes = static_cast<double>(manifest.region(layout::kRecordsRegion).file_bytes());
  return {{"index", build.out},
          {"dataset", manifest.dataset.name},
          {"count", manifest.count},
          {"dimension", manifest.dimension},
          {"metric", to_string(manifest.metric)},
          {"layout", manifest.layout_name()},
          {"amplification", bytes / static_cast<double>(manifest.dataset_bytes())},
          {"commit", commit()}};
}

void add_code_facts(nlohmann::ordered_json& facts, const layout::Manifest& manifest) {
  const std::string why = indexing::steering_words(manifest, "code_bits");
  if (!why.empty()) facts["code_bits_because"] = why;
}

void add_graph_facts(nlohmann::ordered_json& facts, const layout::Manifest& manifest,
                     const indexing::BuiltGraph& built) {
  const graph::VamanaStats& stats = built.stats;
  facts["average_degree"] = manifest.average_degree();
  facts["sparse_vertices"] = graph::sparse_vertices(built.graph, manifest.graph().build.degree);
  facts["seconds"] = stats.seconds;
  facts["distances_per_vector"] =
      static_cast<double>(stats.distances) / static_cast<double>(manifest.count);
  facts["edges_added_for_reachability"] = stats.repaired;
  facts["edges_added_for_queries"] = stats.query_edges;
  facts["code_bits"] = manifest.graph().build.code_bits;
  add_code_facts(facts, manifest);
}

layout::WriteOptions write_options(const CommonBuild& build, unsigned threads,
                                   const Interruption& interrupted) {
  return {.overwrite = build.overwrite,
          .threads = threads,
          .quiet = build.quiet,
          .interrupted = interrupted};
}

/// Returns the queries of the sample, in stored form.
std::optional<dataset::VectorSet> sample_of(std::optional<SourceRows>& sample,
                                            const indexing::Source& source, unsigned threads) {
  if (!sample) return std::nullopt;
  if (source.manifest.second_copy) {
    throw_invalid("sample_queries: an index with store= takes no sample of queries");
  }
  const Metric metric = source.manifest.metric;
  const VectorView& queries = sample->load({.metric = metric});
  if (queries.type != source.manifest.source_type) {
    throw_invalid("sample_queries: rows of {} beside data of {}", to_string(queries.type),
                  to_string(source.manifest.source_type));
  }
  dataset::VectorSet stored = indexing::stored_copy(queries, metric, threads);
  indexing::check_sample(stored.view(), source.rows);
  return stored;
}

}  // namespace

nlohmann::ordered_json build_graph(SourceRows& rows, GraphBuild build) {
  if (build.layout == layout::LayoutKind::slotted) {
    throw_invalid("layout: slotted pages are made by build_slotted()");
  }
  const std::optional<std::uint32_t> bits =
      indexing::code_bits_of(build.layout, build.code_bits, "code_bits");
  indexing::check_degree(build.layout, build.graph.degree);
  const unsigned threads = resolve_threads(build.graph.threads);
  nlohmann::ordered_json facts;
  run_job([&](const Interruption& interrupted) {
    build.graph.interrupted = interrupted;
    const Prepared prepared(rows, build.common, threads);
    const auto queries = sample_of(build.sample_queries, prepared.source(), threads);
    if (queries) build.graph.sample_queries = queries->view();
    indexing::require_codes_fit(prepared.source().rows.type, build.layout, bits, "code_bits");
    const indexing::BuiltGraph built = indexing::build_graph(prepared.source(), build.graph);
    const layout::Manifest manifest =
        indexing::write_graph(build.common.out, built, {build.layout, bits, build.record_checksum},
                              write_options(build.common, threads, interrupted));
    prepared.write_beside(build.common.out, manifest,
                          write_options(build.common, threads, interrupted));
    facts = facts_of(build.common, manifest);
    add_graph_facts(facts, manifest, built);
  });
  return facts;
}

nlohmann::ordered_json build_slotted(SourceRows& rows, SlottedBuild build) {
  indexing::check_slotted(build.recipe);
  indexing::check_degree(layout::LayoutKind::slotted, build.graph.degree);
  const unsigned threads = resolve_threads(build.graph.threads);
  nlohmann::ordered_json facts;
  run_job([&](const Interruption& interrupted) {
    build.graph.interrupted = interrupted;
    const Prepared prepared(rows, build.common, threads);
    const auto queries = sample_of(build.sample_queries, prepared.source(), threads);
    if (queries) build.graph.sample_queries = queries->view();
    const auto recipe = indexing::resolve_slotted(build.recipe, prepared.source().rows);
    const indexing::BuiltGraph built =
        indexing::build_slotted_graph(prepared.source(), recipe, build.graph);
    const layout::Manifest manifest = indexing::write_slotted(
        build.common.out, built, recipe, write_options(build.common, threads, interrupted));
    prepared.write_beside(build.common.out, manifest,
                          write_options(build.common, threads, interrupted));
    facts = facts_of(build.common, manifest);
    add_graph_facts(facts, manifest, built);
    facts["payload"] = to_string(manifest.slotted().payload);
    facts["pages"] = manifest.slotted().pages;
  });
  return facts;
}

nlohmann::ordered_json build_clusters(SourceRows& rows, ClusterBuild build) {
  if (!build.number.is_said_once_at_most()) {
    throw_invalid("give one of clusters, cluster_bytes and head_ratio, or none");
  }
  const unsigned threads = resolve_threads(build.clustering.threads);
  nlohmann::ordered_json facts;
  run_job([&](const Interruption& interrupted) {
    const Prepared prepared(rows, build.common, threads);
    build.clustering.interrupted = interrupted;
    build.clustering.clusters = build.number.of(prepared.source().rows);
    const auto queries = sample_of(build.sample_queries, prepared.source(), threads);
    std::optional<indexing::QuerySample> sample;
    if (queries) sample = {queries->view(), build.sample_probe};
    indexing::require_codes_fit(prepared.source().rows.type, build.layout);
    const auto built = indexing::build_clusters(prepared.source(), build.clustering, sample);
    const layout::Manifest manifest = indexing::write_clusters(
        build.common.out, built, {build.layout, build.record_checksum, build.code_bits},
        write_options(build.common, threads, interrupted));
    prepared.write_beside(build.common.out, manifest,
                          write_options(build.common, threads, interrupted));
    facts = facts_of(build.common, manifest);
    add_code_facts(facts, manifest);
    facts["clusters"] = manifest.cluster().geometry.clusters;
    facts["replicas"] = manifest.cluster().build.replicas;
    facts["largest_cluster"] = built.stats.largest_cluster;
    facts["seconds"] = built.stats.training_seconds + built.stats.assignment_seconds;
  });
  return facts;
}

namespace {

/// Fills in what follows from the rows and the arguments.
void complete(HnswBuild& build, const VectorView& rows, const Interruption& interrupted) {
  paged::HnswRecipe& recipe = build.recipe;
  recipe.config.dimension = rows.dimension;
  recipe.config.type = rows.type;
  recipe.store.folder = build.out;
  recipe.store.log.durability = wal::Durability::none;
  recipe.order.threads = recipe.threads;
  recipe.interrupted = interrupted;
  // Nothing is acknowledged before the whole graph is there.
  recipe.crew.acknowledge_each = false;
  recipe.crew.interrupted = interrupted;
  recipe.crew.slots = 8;
  recipe.store.buffer_bytes =
      paged::build_buffer_bytes(recipe, rows.count, {build.buffer, "buffer"});
}

}  // namespace

nlohmann::ordered_json build_hnsw(SourceRows& rows, HnswBuild build) {
  nlohmann::ordered_json facts;
  run_job([&](const Interruption& interrupted) {
    paged::check_hnsw_destination(build.out, build.recipe.replace, build.recipe.replace_option);
    const Metric metric = build.recipe.config.metric;
    const dataset::VectorSet stored = indexing::stored_copy(
        rows.load({.allow_nonfinite = build.allow_nonfinite, .metric = metric}), metric,
        resolve_threads(build.recipe.threads));
    complete(build, stored.view(), interrupted);
    paged::check_hnsw_recipe(build.recipe);
    paged::HnswBuildStats stats;
    const auto hnsw = paged::build_paged_hnsw(stored.view(), build.recipe, stats);
    facts = {{"index", build.out}};
    facts.update(paged::hnsw_json(hnsw->describe()));
    facts["seconds"] = stats.order_seconds + stats.memory.seconds + stats.layout_seconds +
                       stats.inserts.seconds + stats.inserts.write_back_seconds;
    facts["partitions"] = stats.partitions;
    facts["inserted"] = stats.inserts.done;
    facts["commit"] = commit();
  });
  return facts;
}

}  // namespace farvec::python
