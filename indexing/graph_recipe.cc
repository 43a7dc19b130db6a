#include "indexing/graph_recipe.h"

#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "graph/vamana_merge.h"
#include "graph/vertex_order.h"
#include "indexing/chosen_codes.h"
#include "indexing/code_bits.h"
#include "indexing/row_order.h"
#include "indexing/rows_to_link.h"
#include "quantization/neighbor_encoder.h"

namespace farvec::indexing {

layout::GraphDescription describe_graph(const graph::VamanaOptions& options) {
  layout::GraphDescription description;
  description.max_degree = options.degree;
  description.build = {.degree = options.degree,
                       .list = options.list,
                       .alpha = static_cast<double>(options.alpha),
                       .passes = options.passes,
                       .seed = options.seed};
  return description;
}

BuiltGraph build_graph(Source source, const graph::VamanaOptions& options, LinkBy by) {
  if (options.sample_queries.count > 0) check_sample(options.sample_queries, source.rows);
  source.manifest.description = describe_graph(options);
  graph::VamanaStats stats;
  const auto built = [&](const VectorView& rows, Metric metric) {
    return graph::build_vamana(rows, metric, options, &stats);
  };
  if (by == LinkBy::rows || options.sample_queries.count > 0) {
    graph::Graph graph = built(source.rows, source.manifest.metric);
    return {std::move(source), std::move(graph), std::move(stats)};
  }
  const RowsToLink link(source, options.threads);
  graph::Graph graph = built(link.rows(), link.metric());
  return {std::move(source), std::move(graph), std::move(stats)};
}

BuiltGraph adopt_graph(Source source, FormerGraph former, const graph::VamanaOptions& options) {
  source.manifest.description = describe_graph(options);
  graph::VamanaStats stats;
  graph::Graph graph =
      graph::merge_vamana({std::move(former.graph), std::move(former.out), source.rows},
                          source.manifest.metric, options, &stats);
  return {std::move(source), std::move(graph), std::move(stats)};
}

void check_degree(layout::LayoutKind layout, std::uint32_t degree) {
  const std::uint32_t most = layout::largest_degree(layout);
  if (degree <= most) return;
  throw Error("degree {} is out of range: a vertex of layout {} has at most {} neighbours", degree,
              to_string(layout), most);
}

namespace {

struct VertexOptions {
  CodeWish wish;
  const layout::WriteOptions& write;
  bool in_order = false;  ///< see GraphRecipe
};

CodeTraining training_of(const layout::Manifest& manifest, const VertexOptions& options) {
  return {options.wish.usual, manifest.graph().build.seed, options.write.threads,
          options.write.interrupted, options.write.quiet};
}

/// Makes the codes of vertices; the manifest then says why they were chosen.
EncodedRows vertex_codes(layout::Manifest& manifest, const VectorView& rows,
                         const AdjacencyView& graph, const VertexOptions& options) {
  Chosen<EncodedRows> chosen =
      choose_codes({rows, graph, manifest.metric}, options.wish, training_of(manifest, options));
  manifest.graph().build.steering = chosen.why;
  return std::move(chosen.codes);
}

layout::Manifest write_inlined(const std::filesystem::path& directory, layout::Manifest manifest,
                               const BuiltGraph& built, const VertexOptions& options) {
  const quantization::EdgeSet edges{built.source.rows, built.graph.view()};
  layout::GraphDescription& description = manifest.graph();
  const auto chosen = choose_edge_codes({edges.rows, edges.graph, manifest.metric}, options.wish,
                                        training_of(manifest, options));
  const quantization::NeighborEncoder& encoder = *chosen.codes;
  description.build.steering = chosen.why;
  description.neighbor_code_bytes = encoder.codes().bytes(description.max_degree);
  const EncodedRows encoded =
      describe_neighbor_codes(edges.rows, edges.graph.entry, encoder.codes());
  return layout::write_index(
      directory, std::move(manifest),
      {{edges.graph,
        edges.rows,
        [&](NodeId v, std::span<std::byte> out) { encoder.encode(v, out.data()); },
        {}},
       encoded.view()},
      options.write);
}

/// Returns an order of the vertices that makes the lists of their neighbours short, or that of the
/// rows.
std::vector<NodeId> packed_order(const BuiltGraph& built, const VertexOptions& options) {
  if (!options.in_order) {
    const layout::WriteOptions& write = options.write;
    return graph::bisection_order(built.graph.view(),
                                  {write.threads, write.quiet, write.interrupted});
  }
  std::vector<NodeId> order(built.graph.count());
  std::iota(order.begin(), order.end(), NodeId{0});
  return order;
}

layout::Manifest write_packed(const std::filesystem::path& directory, layout::Manifest manifest,
                              const BuiltGraph& built, const VertexOptions& options) {
  const unsigned threads = options.write.threads;
  const std::vector<NodeId> order = packed_order(built, options);
  const graph::Graph graph = graph::reordered(built.graph.view(), order, threads);
  const dataset::VectorSet rows = picked_rows(built.source.rows, order, threads);
  const EncodedRows encoded = vertex_codes(manifest, rows.view(), graph.view(), options);
  return layout::write_index(directory, std::move(manifest),
                             {{graph.view(), rows.view(), {}, order}, encoded.view()},
                             options.write);
}

}  // namespace

layout::Manifest write_graph(const std::filesystem::path& directory, const BuiltGraph& built,
                             const GraphRecipe& recipe, const layout::WriteOptions& options) {
  FARVEC_CHECK(recipe.layout != layout::LayoutKind::slotted, "write_slotted() writes pages");
  require_codes_fit(built.source.rows.type, recipe.layout, recipe.code_bits, "codes of");
  layout::Manifest manifest = built.source.manifest;
  manifest.graph().layout = recipe.layout;
  manifest.graph().record_checksum = recipe.record_checksum;
  const VectorView& rows = built.source.rows;
  const VertexOptions codes{
      {recipe.code_bits, usual_code_bits(recipe.layout)}, options, recipe.in_order};
  if (recipe.layout == layout::LayoutKind::inlined) {
    return write_inlined(directory, std::move(manifest), built, codes);
  }
  if (recipe.layout == layout::LayoutKind::packed) {
    return write_packed(directory, std::move(manifest), built, codes);
  }
  const EncodedRows encoded = vertex_codes(manifest, rows, built.graph.view(), codes);
  return layout::write_index(directory, std::move(manifest),
                             {{built.graph.view(), rows, {}, {}}, encoded.view()}, options);
}

}  // namespace farvec::indexing
