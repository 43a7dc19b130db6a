#include "search/index_loader.h"

#include <algorithm>

#include "base/clock.h"
#include "base/parallel.h"
#include "search/region_fetch.h"
#include "ssd_baseline/split_codes.h"

namespace farvec::search {
namespace {

GraphIndex assemble(const layout::Manifest& manifest, layout::GraphLocator locator,
                    layout::Codes codes) {
  quantization::RabitqParameters parameters = ssd_baseline::code_parameters(codes);
  return GraphIndex({manifest.metric, manifest.stored_type, manifest.dimension,
                     manifest.graph().entry, std::move(locator),
                     quantization::Rabitq(std::move(parameters)), std::move(codes)});
}

cluster::CentroidIndex make_centroids(const layout::Manifest& manifest,
                                      layout::Centroids centroids) {
  graph::Graph graph = centroid_graph(centroids);
  return cluster::CentroidIndex(
      {manifest.metric, manifest.stored_type, manifest.dimension, centroids.header.space_dimension,
       std::move(centroids.centroids), std::move(graph)},
      resolve_threads(0));
}

ClusterIndex assemble(const layout::Manifest& manifest, layout::ClusterLocator locator,
                      layout::Centroids centroids) {
  return ClusterIndex({manifest.metric, manifest.stored_type, manifest.dimension,
                       std::move(locator), make_centroids(manifest, std::move(centroids))});
}

GraphIndex fetch_graph(const layout::Manifest& manifest, transport::Endpoint& endpoint,
                       const FetchBound& bound) {
  layout::OffsetTable table;
  if (manifest.graph().layout == layout::LayoutKind::csr) {
    table = layout::parse_offset_table(
        fetch_region(manifest, layout::kOffsetsRegion, endpoint, bound), manifest);
  }
  layout::Codes codes =
      layout::parse_codes(fetch_region(manifest, layout::kCodesRegion, endpoint, bound), manifest,
                          endpoint.description());
  return assemble(manifest, layout::GraphLocator(manifest.graph_geometry(), std::move(table)),
                  std::move(codes));
}

ClusterIndex fetch_clusters(const layout::Manifest& manifest, transport::Endpoint& endpoint,
                            const FetchBound& bound) {
  const HugeBuffer centroids = fetch_region(manifest, layout::kCentroidsRegion, endpoint, bound);
  return assemble(manifest,
                  layout::parse_cluster_table(
                      fetch_region(manifest, layout::kClustersRegion, endpoint, bound), manifest),
                  layout::parse_centroids(centroids.span(), manifest, endpoint.description()));
}

}  // namespace

graph::Graph centroid_graph(const layout::Centroids& centroids) {
  const layout::CentroidsHeader& header = centroids.header;
  graph::Graph graph(header.clusters, std::max(header.max_degree, 1u));
  const ClusterId* row = centroids.neighbors.data();
  for (std::size_t c = 0; c < header.clusters; ++c) {
    graph.set_neighbors(c, {row, centroids.degrees[c]});
    row += centroids.degrees[c];
  }
  graph.entry = header.entry;
  return graph;
}

SearchIndex load_search_index(const layout::IndexDirectory& directory,
                              const layout::LoadOptions& options) {
  const layout::Manifest& manifest = directory.manifest();
  if (manifest.is_slotted()) return ssd_baseline::load_slotted_index(directory, options);
  if (manifest.is_cluster()) {
    return assemble(manifest, directory.load_cluster_locator(options),
                    directory.load_centroids(options));
  }
  return assemble(manifest, directory.load_locator(options), directory.load_codes(options));
}

SearchIndex fetch_search_index(const layout::Manifest& manifest, transport::Endpoint& endpoint,
                               const FetchOptions& options) {
  layout::require_memory_layout(manifest, endpoint.description());
  const auto bytes =
      static_cast<double>(manifest.region(1).file_bytes() + manifest.region(2).file_bytes());
  const double seconds = options.deadline_seconds + bytes / options.least_bytes_per_second;
  const FetchBound bound{now_ticks() + us_to_ticks(seconds * 1e6), options.stop};
  SearchIndex index = manifest.is_cluster() ? SearchIndex(fetch_clusters(manifest, endpoint, bound))
                                            : SearchIndex(fetch_graph(manifest, endpoint, bound));
  if (manifest.placement) check_placement(*manifest.placement, index);
  return index;
}

void check_placement(const layout::Placement& placement, const SearchIndex& index) {
  if (index.graph() != nullptr) {
    layout::check_records(placement, index.graph()->locator());
  } else {
    layout::check_records(placement, index.clusters()->locator());
  }
}

}  // namespace farvec::search
