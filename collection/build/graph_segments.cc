// This file makes segments that are graphs, in records or in slotted pages.
#include <utility>

#include "collection/build/page_recipe.h"
#include "collection/build/segment_maker.h"
#include "collection/segment/segment_folder.h"
#include "dataset/vector_set.h"
#include "indexing/graph_recipe.h"
#include "indexing/merge_recipe.h"
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
  vamana.interrupted = [watch = recipe.watch] { return watch->interrupted(); };
  vamana.advanced = [watch = recipe.watch](std::uint64_t rows) { watch->linked(rows); };
  return vamana;
}

bool in_pages(const SegmentRecipe& recipe) {
  return recipe.manifest->options.in_pages();
}

std::shared_ptr<Segment> write_graph(const indexing::BuiltGraph& built, const RowFacts& facts,
                                     const SegmentRecipe& recipe) {
  const layout::CollectionOptions& options = recipe.manifest->options;
  return write_segment(
      [&](const layout::WriteOptions& write) {
        if (in_pages(recipe)) {
          indexing::write_slotted(recipe.folder, built, page_recipe(*recipe.manifest), write);
          return;
        }
        indexing::write_graph(
            recipe.folder, built,
            {.layout = options.layout, .code_bits = options.code_bits, .record_checksum = false},
            write);
      },
      facts, recipe);
}

indexing::StoredGraph read_graph_segment(const Segment& segment, const SegmentRecipe& recipe) {
  return indexing::read_graph(segment.folder().directory(), load_options(recipe));
}

std::shared_ptr<Segment> build_graph_segment(indexing::Source source, const RowFacts& facts,
                                             const SegmentRecipe& recipe) {
  const graph::VamanaOptions options = vamana_options(recipe);
  if (!in_pages(recipe)) {
    return write_graph(indexing::build_graph(std::move(source), options), facts, recipe);
  }
  return write_graph(
      indexing::build_slotted_graph(std::move(source), page_recipe(*recipe.manifest), options),
      facts, recipe);
}

std::shared_ptr<Segment> adopt_memtable(indexing::Source source, const FrozenRows& frozen,
                                        const SegmentRecipe& recipe) {
  link_rest(frozen.memtable, recipe.threads, [&] { return recipe.watch->interrupted(); });
  return write_graph(indexing::adopt_graph(std::move(source), {frozen.memtable.graph(), frozen.out},
                                           vamana_options(recipe)),
                     frozen.facts, recipe);
}

std::shared_ptr<Segment> merge_graph_segments(std::span<const View::Bulk* const> segments,
                                              const RowFacts& facts, const SegmentRecipe& recipe) {
  const View::Bulk& largest = *segments.front();
  const auto read_rows = [&](const Segment& segment) {
    return std::move(read_graph_segment(segment, recipe).rows);
  };
  indexing::IndexChanges changes{*largest.out, rows_of_all(segments.subspan(1), recipe, read_rows)};
  indexing::StoredGraph stored = read_graph_segment(*largest.segment, recipe);
  recipe.watch->enter(BuildPhase::linking);
  indexing::StoredGraph merged =
      indexing::merge_graph(std::move(stored), std::move(changes), vamana_options(recipe));
  return write_graph(std::move(merged).built(), facts, recipe);
}

}  // namespace

const SegmentMaker kGraphMaker{.from_rows = build_graph_segment,
                               .from_memtable = adopt_memtable,
                               .from_segments = merge_graph_segments};

}  // namespace farvec::collection
