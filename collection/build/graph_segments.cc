// This file makes segments that are graphs, in records or in slotted pages.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "collection/build/page_recipe.h"
#include "collection/build/segment_maker.h"
#include "collection/build/segment_source.h"
#include "collection/build/tenant_order.h"
#include "collection/segment/segment_folder.h"
#include "dataset/vector_set.h"
#include "graph/vertex_order.h"
#include "indexing/graph_recipe.h"
#include "indexing/merge_recipe.h"
#include "indexing/row_order.h"
#include "indexing/slotted_recipe.h"
#include "indexing/stored_graph.h"

namespace farvec::collection {
namespace {

graph::VamanaOptions vamana_options(const SegmentRecipe& recipe) {
  const layout::CollectionOptions& options = recipe.manifest->options;
  graph::VamanaOptions vamana;
  vamana.degree = options.degree;
  vamana.list = options.list;
  vamana.alpha = static_cast<float>(options.alpha);
  vamana.threads = recipe.threads;
  vamana.quiet = true;
  vamana.interrupted = [&recipe] { return recipe.interrupted(); };
  vamana.advanced = [watch = recipe.watch](std::uint64_t rows) { watch->linked(rows); };
  return vamana;
}

bool in_pages(const SegmentRecipe& recipe) {
  return recipe.manifest->options.in_pages();
}

layout::Manifest write_index(const indexing::BuiltGraph& built, bool in_order,
                             const SegmentRecipe& recipe, const layout::WriteOptions& write) {
  const layout::CollectionOptions& options = recipe.manifest->options;
  if (in_pages(recipe)) {
    indexing::SlottedRecipe pages = page_recipe(*recipe.manifest);
    if (in_order) pages.pack_in_order();
    return indexing::write_slotted(recipe.folder, built, pages, write);
  }
  return indexing::write_graph(recipe.folder, built,
                               {.layout = options.layout,
                                .code_bits = options.code_bits,
                                .record_checksum = false,
                                .in_order = in_order},
                               write);
}

/// Writes the graph, and the second copy of its rows where `whole` has one. Null: it has none.
std::shared_ptr<Segment> write_graph(const indexing::BuiltGraph& built, const SegmentSource* whole,
                                     const RowFacts& facts, const SegmentRecipe& recipe) {
  const bool in_order = are_small_tenants(*recipe.schema, facts.attributes);
  return write_segment(
      [&](const layout::WriteOptions& write) {
        const layout::Manifest written = write_index(built, in_order, recipe, write);
        if (whole != nullptr) whole->write_second(recipe.folder, written, write);
      },
      facts, recipe);
}

indexing::StoredGraph read_graph_segment(const Segment& segment, const SegmentRecipe& recipe) {
  return indexing::read_graph(segment.folder().directory(), load_options(recipe));
}

std::shared_ptr<Segment> build_graph_segment(indexing::Source source, const RowFacts& facts,
                                             const SegmentRecipe& recipe) {
  const SegmentSource made(std::move(source), recipe);
  const graph::VamanaOptions options = vamana_options(recipe);
  if (!in_pages(recipe)) {
    const auto by = recipe.rounds_rows ? indexing::LinkBy::rounded : indexing::LinkBy::rows;
    return write_graph(indexing::build_graph(made.source(), options, by), &made, facts, recipe);
  }
  return write_graph(
      indexing::build_slotted_graph(made.source(), page_recipe(*recipe.manifest), options), &made,
      facts, recipe);
}

/// Returns the graph of a memtable whose rows are all linked, with its vertices in the order of the
/// segment's rows. Those that are out come after them, unless all stay where they are.
indexing::FormerGraph graph_of(const FrozenRows& frozen, unsigned threads) {
  graph::Graph graph = frozen.memtable.graph();
  if (std::is_sorted(frozen.rows.begin(), frozen.rows.end())) {
    return {std::move(graph), frozen.out};
  }
  std::vector<NodeId> order(frozen.rows.begin(), frozen.rows.end());
  for (NodeId row = 0; row < graph.count(); ++row) {
    if (frozen.out.contains(row)) order.push_back(row);
  }
  std::vector<NodeId> out(order.size() - frozen.rows.size());
  std::iota(out.begin(), out.end(), static_cast<NodeId>(frozen.rows.size()));
  return {graph::reordered(graph.view(), order, threads), RowSet().with(out)};
}

/// A memtable of which most is not linked, as after a catch-up, becomes a graph of its rows where
/// these are rounded: that takes less time than to link the rest one by one. Its own rows go on to
/// be linked meanwhile, since they are searched and others come after them.
std::shared_ptr<Segment> adopt_memtable(indexing::Source source, const FrozenRows& frozen,
                                        const SegmentRecipe& recipe) {
  if (recipe.rounds_rows && frozen.memtable.unlinked() > frozen.memtable.linked()) {
    return build_graph_segment(std::move(source), frozen.facts, recipe);
  }
  link_rest(frozen.memtable, recipe.threads, [&] { return recipe.interrupted(); });
  const SegmentSource made(std::move(source), recipe);
  return write_graph(indexing::adopt_graph(made.source(), graph_of(frozen, recipe.threads),
                                           vamana_options(recipe)),
                     &made, frozen.facts, recipe);
}

/// Merges segments whose vectors were reduced, each in its own way: all rows are reduced anew.
std::shared_ptr<Segment> merge_reduced_graphs(const JoinedRows& joined,
                                              const SegmentRecipe& recipe) {
  const View::Bulk& largest = *joined.segments.front();
  JoinedSource rows(joined, recipe);
  indexing::StoredGraph former = read_graph_segment(*largest.segment, recipe);
  former.rows = dataset::VectorSet(0, recipe.manifest->dimension, recipe.manifest->segment_type());
  const std::uint32_t merges = former.manifest.graph().build.merges;
  recipe.watch->enter(BuildPhase::linking);
  indexing::BuiltGraph merged = indexing::adopt_graph(
      rows.source().source(), {std::move(former.graph), *largest.out}, vamana_options(recipe));
  merged.source.manifest.graph().build.merges = merges + 1;
  if (!joined.order.empty()) {
    rows.reorder(joined.order);
    merged.graph = graph::reordered(merged.graph.view(), joined.order, recipe.threads);
    const indexing::Source source = rows.source().source();
    merged.source.rows = source.rows;
    merged.source.manifest.dataset = source.manifest.dataset;
    merged.source.manifest.second_copy = source.manifest.second_copy;
  }
  return write_graph(merged, &rows.source(), joined.facts, recipe);
}

std::shared_ptr<Segment> merge_graph_segments(const JoinedRows& joined,
                                              const SegmentRecipe& recipe) {
  if (recipe.manifest->options.store) return merge_reduced_graphs(joined, recipe);
  const View::Bulk& largest = *joined.segments.front();
  const auto read_rows = [&](const Segment& segment) {
    return std::move(read_graph_segment(segment, recipe).rows);
  };
  indexing::IndexChanges changes{*largest.out,
                                 rows_of_all(joined.segments.subspan(1), recipe, read_rows)};
  indexing::StoredGraph stored = read_graph_segment(*largest.segment, recipe);
  recipe.watch->enter(BuildPhase::linking);
  indexing::StoredGraph merged =
      indexing::merge_graph(std::move(stored), std::move(changes), vamana_options(recipe));
  if (!joined.order.empty()) indexing::reorder(merged, joined.order, recipe.threads);
  return write_graph(std::move(merged).built(), nullptr, joined.facts, recipe);
}

}  // namespace

const SegmentMaker kGraphMaker{.from_rows = build_graph_segment,
                               .from_memtable = adopt_memtable,
                               .from_segments = merge_graph_segments};

}  // namespace farvec::collection
