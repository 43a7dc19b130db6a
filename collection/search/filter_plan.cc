#include "collection/search/filter_plan.h"

#include <cmath>

#include "layout/graph/graph_layout.h"

namespace farvec::collection {

std::uint64_t most_scanned(const Segment& segment, const search::SearchIndex& index,
                           std::uint32_t list) {
  const layout::Manifest& manifest = segment.manifest();
  if (manifest.is_cluster() || manifest.graph().layout == layout::LayoutKind::packed) return 0;
  const search::GraphIndex* const graph = index.graph();
  const bool estimates = graph == nullptr || graph->vertex_codes() != nullptr;
  const double reads = static_cast<double>(list) * segment.rows();
  return static_cast<std::uint64_t>(
      std::sqrt(estimates ? reads * manifest.graph().max_degree : reads));
}

}  // namespace farvec::collection
