#include "graph/sampled_graph.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "graph/entry_points.h"
#include "graph/vamana_builder.h"

namespace farvec::graph {
namespace {

Graph build(const VectorView& rows, const std::vector<NodeId>& ids, Metric metric,
            const SampleOptions& options) {
  HugeBuffer copies(ids.size() * rows.row_bytes());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::memcpy(copies.data() + i * rows.row_bytes(), rows.row(ids[i]), rows.row_bytes());
  }
  VectorView sample = rows;
  sample.data = copies.data();
  sample.count = ids.size();
  sample.stride_bytes = rows.row_bytes();
  VamanaOptions build;
  build.degree = options.degree;
  build.list = 2 * options.degree;
  build.seed = options.seed;
  build.threads = options.threads;
  build.quiet = options.quiet;
  build.interrupted = options.interrupted;
  return build_vamana(sample, metric, build);
}

std::vector<NodeId> sample_ids(std::size_t count, std::uint32_t vertices) {
  if (vertices == 0) throw Error("a graph of entries needs at least one vertex");
  return spread_ids(count, vertices);
}

}  // namespace

SampledGraph::SampledGraph(const VectorView& rows, Metric metric, const SampleOptions& options)
    : ids_(sample_ids(rows.count, options.vertices)), graph_(build(rows, ids_, metric, options)) {
  std::vector<NodeId> row;
  for (std::size_t v = 0; v < graph_.count(); ++v) {
    const auto neighbors = graph_.neighbors(v);
    row.assign(neighbors.begin(), neighbors.end());
    for (NodeId& neighbor : row) neighbor = ids_[neighbor];
    graph_.set_neighbors(v, row);
  }
  graph_.entry = ids_[graph_.entry];
}

}  // namespace farvec::graph
