#include "indexing/merge_recipe.h"

#include <utility>

#include "graph/vamana_merge.h"

namespace farvec::indexing {
namespace {

layout::Manifest describe_merged(layout::Manifest manifest, const dataset::VectorSet& rows,
                                 const graph::VamanaOptions& options) {
  const std::uint32_t merges = manifest.graph().build.merges;
  layout::GraphDescription& description =
      manifest.description.emplace<layout::GraphDescription>(describe_graph(options));
  description.build.merges = merges + 1;
  return described_without_file(std::move(manifest), rows.count());
}

}  // namespace

StoredGraph merge_graph(StoredGraph former, IndexChanges changes,
                        const graph::VamanaOptions& options, graph::VamanaStats* stats) {
  const VectorView rows = former.rows.view();
  StoredGraph merged{{}, join_rows(rows, changes, options.threads), graph::Graph(0, 1)};
  former.rows = dataset::VectorSet(0, rows.dimension, rows.type);
  changes.more = dataset::VectorSet(0, rows.dimension, rows.type);
  merged.manifest = describe_merged(std::move(former.manifest), merged.rows, options);
  merged.graph =
      graph::merge_vamana({std::move(former.graph), std::move(changes.out), merged.rows.view()},
                          merged.manifest.metric, options, stats);
  return merged;
}

}  // namespace farvec::indexing
