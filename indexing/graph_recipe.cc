#include "indexing/graph_recipe.h"

#include <utility>

#include "base/check.h"
#include "indexing/codes.h"

namespace farvec::indexing {

BuiltGraph build_graph(Source source, const graph::VamanaOptions& options) {
  layout::GraphPart& part = source.manifest.part.emplace<layout::GraphPart>();
  part.max_degree = options.degree;
  part.build = {.degree = options.degree,
                .list = options.list,
                .alpha = static_cast<double>(options.alpha),
                .passes = options.passes,
                .seed = options.seed};
  graph::VamanaStats stats;
  graph::Graph graph = graph::build_vamana(source.rows, source.manifest.metric, options, &stats);
  return {std::move(source), std::move(graph), std::move(stats)};
}

layout::Manifest write_graph(const std::filesystem::path& directory, const BuiltGraph& built,
                             const GraphRecipe& recipe, const layout::WriteOptions& options) {
  FARVEC_CHECK(recipe.layout != layout::LayoutKind::slotted, "write_slotted() writes pages");
  layout::Manifest manifest = built.source.manifest;
  manifest.graph().layout = recipe.layout;
  manifest.graph().record_checksum = recipe.record_checksum;
  const VectorView& rows = built.source.rows;
  const EncodedRows encoded = encode_whole(
      rows, manifest.metric, {recipe.code_bits, manifest.graph().build.seed, options.threads});
  return layout::write_index(directory, std::move(manifest),
                             {built.graph.view(), rows, encoded.view()}, options);
}

}  // namespace farvec::indexing
