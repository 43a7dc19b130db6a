#include "graph/vamana_builder.h"

#include <utility>

#include "graph/vamana_growth.h"

namespace farvec::graph {

Graph build_vamana(VectorView data, Metric metric, const VamanaOptions& options,
                   VamanaStats* stats) {
  check_vamana(data, options);
  VamanaStats result;
  Graph graph(0, options.degree);
  if (data.count > 0) {
    VamanaGrowth growth(data, metric, options);
    growth.graph().entry = growth.medoid();
    growth.insert_from(0);
    graph = growth.finish(result);
  }
  if (stats != nullptr) *stats = std::move(result);
  return graph;
}

}  // namespace farvec::graph
