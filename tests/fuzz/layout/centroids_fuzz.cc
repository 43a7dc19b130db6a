// Any bytes are centroids and the graph over them, or an Error.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "layout/cluster/centroids_region.h"
#include "layout/index/manifest.h"
#include "tests/fuzz/fuzz_file.h"

namespace {

using namespace farvec;
using namespace farvec::layout;

/// What the seeds are of too.
Manifest small_manifest(Metric metric) {
  Manifest manifest;
  manifest.metric = metric;
  manifest.dimension = 3;
  manifest.description.emplace<ClusterDescription>().geometry.clusters = 4;
  return manifest;
}

/// What a centroid index takes for granted.
void walk(const Centroids& centroids) {
  const CentroidsHeader& header = centroids.header;
  FARVEC_CHECK(centroids.centroids.size() == std::size_t{header.clusters} * header.space_dimension);
  FARVEC_CHECK(centroids.degrees.size() == header.clusters && header.entry < header.clusters);
  std::size_t edges = 0;
  for (const std::uint32_t degree : centroids.degrees) edges += degree;
  FARVEC_CHECK(edges == centroids.neighbors.size());
  for (const ClusterId id : centroids.neighbors) FARVEC_CHECK(id < header.clusters);
  for (const float x : centroids.centroids) FARVEC_CHECK(std::isfinite(x));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> region(kRegionHeaderBytes + size);
  const auto input = std::as_bytes(std::span(data, size));
  std::copy(input.begin(), input.end(), region.begin() + kRegionHeaderBytes);
  for (const Metric metric : {Metric::l2, Metric::inner_product}) {
    fuzz::expect_error_at_most(
        [&] { walk(parse_centroids(region, small_manifest(metric).centroids_shape(), "fuzz")); });
  }
  return 0;
}
