#include "search/kinds/index_loader.h"

#include <algorithm>
#include <variant>

#include "base/clock.h"
#include "graph/listed_graph.h"
#include "search/core/index_kinds.h"

namespace farvec::search {
graph::Graph centroid_graph(const layout::Centroids& centroids) {
  const layout::CentroidsHeader& header = centroids.header;
  return graph::listed_graph(centroids.degrees, centroids.neighbors, header.max_degree,
                             header.entry);
}

SearchIndex load_search_index(const layout::IndexDirectory& directory,
                              const layout::LoadOptions& options) {
  return std::visit(
      [&](const auto& description) { return load_kind(directory, description, options); },
      directory.manifest().description);
}

SearchIndex fetch_search_index(const layout::Manifest& manifest, transport::Endpoint& endpoint,
                               const FetchOptions& options) {
  layout::require_memory_layout(manifest, endpoint.description());
  std::uint64_t bytes = 0;
  for (const layout::RegionEntry& region : manifest.regions) bytes += region.file_bytes();
  // The records, which stay where they are.
  bytes -= manifest.region(layout::kRecordsRegion).file_bytes();
  const double seconds =
      options.deadline_seconds + static_cast<double>(bytes) / options.least_bytes_per_second;
  const FetchBound bound{now_ticks() + us_to_ticks(seconds * 1e6), options.stop, options.on_bytes};
  SearchIndex index = std::visit(
      [&](const auto& description) { return fetch_kind(manifest, description, endpoint, bound); },
      manifest.description);
  if (manifest.placement) check_placement(*manifest.placement, index);
  return index;
}

void check_placement(const layout::Placement& placement, const SearchIndex& index) {
  index.visit_records([&](const auto& own) { check_records(placement, own.locator()); });
}

}  // namespace farvec::search
