#include "collection/search/filter_plan.h"

#include <algorithm>
#include <cmath>

namespace farvec::collection {
namespace {

/// Estimating this many takes some 0.3 ms. A walk passes most of the graph where the rows that
/// match are far from the query, which their number does not say.
constexpr std::uint64_t kAlwaysEstimated = 8192;

}  // namespace

bool can_scan(const Segment& segment, const search::SearchIndex& index) {
  if (segment.manifest().is_cluster()) return false;
  const search::GraphIndex* const graph = index.graph();
  const search::RowVertices* const vertices = graph == nullptr ? nullptr : graph->row_vertices();
  return vertices == nullptr || vertices->known();
}

std::uint64_t most_scanned(const Segment& segment, const search::SearchIndex& index,
                           std::uint32_t list) {
  if (!can_scan(segment, index)) return 0;
  const search::GraphIndex* const graph = index.graph();
  const bool estimates = graph == nullptr || graph->vertex_codes() != nullptr;
  const double reads = static_cast<double>(list) * segment.rows();
  if (!estimates) return static_cast<std::uint64_t>(std::sqrt(reads));
  const double least = std::sqrt(reads * segment.manifest().graph().max_degree);
  return std::max(kAlwaysEstimated, static_cast<std::uint64_t>(least));
}

}  // namespace farvec::collection
