#include "indexing/stored_clusters.h"

#include <cstring>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "cluster/grouping.h"
#include "graph/listed_graph.h"
#include "indexing/source.h"
#include "layout/cluster/cluster_decoder.h"

namespace farvec::indexing {
namespace {

/// Fewer probes say too little of which clusters are probed most.
bool say_enough(const std::vector<std::uint64_t>& probes) {
  return !probes.empty() &&
         std::accumulate(probes.begin(), probes.end(), std::uint64_t{0}) >= probes.size();
}

}  // namespace

BuiltClusters StoredClusters::built(unsigned threads) && {
  std::vector<ClusterId> homes =
      say_enough(probes) ? cluster::group_by_frequency(clusters.membership(), probes, threads)
                         : expected_homes(clusters, threads);
  return std::move(*this).grouped(std::move(homes));
}

BuiltClusters StoredClusters::grouped(std::vector<ClusterId> homes) && {
  BuiltClusters built;
  built.source = {std::move(manifest), rows.view()};
  built.homes = std::move(homes);
  built.clusters = std::move(clusters);
  built.centroids = std::move(centroids);
  return built;
}

StoredClusters read_clusters(const layout::IndexDirectory& directory,
                             const layout::LoadOptions& options) {
  const layout::Manifest& manifest = directory.manifest();
  if (!manifest.is_cluster()) {
    throw Error("{} is no index of clusters: it is {}", directory.path().string(),
                in_words(manifest.kind()));
  }
  StoredClusters stored{
      unwritten(manifest),
      dataset::VectorSet(manifest.count, manifest.dimension, manifest.stored_type),
      {}};
  {
    layout::DecodedClusters decoded =
        layout::decode_clusters(directory.load_cluster_locator(options),
                                directory.load_region(layout::kRecordsRegion, options).span());
    std::memcpy(stored.rows.mutable_row(0), decoded.vectors.data(), decoded.vectors.size());
    stored.clusters.begins = std::move(decoded.begins);
    stored.clusters.clusters = std::move(decoded.clusters);
  }
  layout::Centroids centroids = directory.load_centroids(options);
  stored.centroids = graph::listed_graph(centroids.degrees, centroids.neighbors,
                                         centroids.header.max_degree, centroids.header.entry);
  stored.clusters.space_dimension = centroids.header.space_dimension;
  stored.clusters.centroids = std::move(centroids.centroids);
  return stored;
}

}  // namespace farvec::indexing
