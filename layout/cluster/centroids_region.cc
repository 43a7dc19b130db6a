#include "layout/cluster/centroids_region.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/check.h"
#include "base/error.h"
#include "layout/region/region_bytes.h"

namespace farvec::layout {
namespace {

void require(bool good, std::string_view source, const char* what) {
  if (!good) throw Error("{}: {}; rebuild the index", source, what);
}

std::uint64_t codes_bytes(std::uint32_t dimension) {
  return sizeof(CodesHeader) + dimension * sizeof(float);
}

void require_header(const CentroidsHeader& header, const CentroidsShape& shape,
                    std::string_view source) {
  const std::uint32_t space = shape.dimension + (shape.metric == Metric::inner_product ? 1u : 0u);
  require(header.clusters == shape.geometry.clusters, source,
          "the centroids are not as many as the manifest says");
  require(header.space_dimension == space, source, "the centroids are of another dimension");
  require(header.max_degree <= header.clusters && header.entry < header.clusters &&
              header.edges <= std::uint64_t{header.clusters} * header.max_degree,
          source, "the graph over the centroids is impossible");
  const bool coded = shape.geometry.has_codes();
  require(header.codes_bytes == (coded ? codes_bytes(shape.dimension) : 0), source,
          "the centroids have other codes than the manifest says");
}

void require_codes(const CodesHeader& codes, const CentroidsShape& shape, std::string_view source) {
  const ClusterGeometry& geometry = shape.geometry;
  require(codes.dimension == shape.dimension && codes.count == geometry.members &&
              codes.record_bytes == geometry.code_block_bytes,
          source, "the codes are of another shape than the manifest says");
  require(codes.metric == shape.metric && codes.type == shape.type &&
              codes.bits == geometry.code_bits && codes.extension_bits == 0,
          source, "the codes are of another kind than the manifest says");
}

template <typename T>
std::vector<T> take(std::span<const std::byte> payload, std::uint64_t offset, std::uint64_t count) {
  std::vector<T> values(count);
  // A graph over one centroid has no edges, and memcpy() takes no null.
  if (count > 0) std::memcpy(values.data(), payload.data() + offset, count * sizeof(T));
  return values;
}

void take_codes(std::span<const std::byte> payload, const CentroidsShape& shape,
                std::string_view source, Centroids& result) {
  const std::uint64_t begin = result.header.codes_offset();
  std::memcpy(&result.codes, payload.data() + begin, sizeof(CodesHeader));
  require_codes(result.codes, shape, source);
  result.code_centroid = take<float>(payload, begin + sizeof(CodesHeader), result.codes.dimension);
  require(std::all_of(result.code_centroid.begin(), result.code_centroid.end(),
                      [](float x) { return std::isfinite(x); }),
          source, "the centroid of the codes is not finite");
}

}  // namespace

std::vector<std::byte> encode_centroids(const CentroidsView& view) {
  const AdjacencyView& graph = view.graph;
  CentroidsHeader header;
  header.clusters = static_cast<std::uint32_t>(graph.count);
  header.space_dimension = view.space_dimension;
  header.max_degree = *std::max_element(graph.degrees, graph.degrees + graph.count);
  header.entry = graph.entry;
  header.edges = std::accumulate(graph.degrees, graph.degrees + graph.count, std::uint64_t{0});
  FARVEC_CHECK(view.centroids.size() == graph.count * view.space_dimension);
  const bool coded = view.codes.header.dimension > 0;
  if (coded) header.codes_bytes = codes_bytes(view.codes.header.dimension);
  std::vector<std::byte> bytes(header.payload_bytes());
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + CentroidsHeader::centroids_offset(), view.centroids.data(),
              view.centroids.size_bytes());
  std::memcpy(bytes.data() + header.degrees_offset(), graph.degrees,
              graph.count * sizeof(std::uint32_t));
  std::byte* cursor = bytes.data() + header.edges_offset();
  for (std::size_t c = 0; c < graph.count; ++c) {
    if (graph.degrees[c] == 0) continue;
    std::memcpy(cursor, graph.row(c), graph.degrees[c] * sizeof(ClusterId));
    cursor += graph.degrees[c] * sizeof(ClusterId);
  }
  if (coded) {
    FARVEC_CHECK(view.codes.centroid.size() == view.codes.header.dimension);
    std::memcpy(cursor, &view.codes.header, sizeof(CodesHeader));
    std::memcpy(cursor + sizeof(CodesHeader), view.codes.centroid.data(),
                view.codes.centroid.size_bytes());
  }
  return bytes;
}

Centroids parse_centroids(std::span<const std::byte> region, const CentroidsShape& shape,
                          std::string_view source) {
  require(region.size() >= kRegionHeaderBytes + CentroidsHeader::centroids_offset(), source,
          "the centroids are cut short");
  const auto payload = region.subspan(kRegionHeaderBytes);
  Centroids result;
  std::memcpy(&result.header, payload.data(), sizeof(CentroidsHeader));
  const CentroidsHeader& header = result.header;
  require_header(header, shape, source);
  require(payload.size() == header.payload_bytes(), source, "the centroids are cut short");
  result.centroids = take<float>(payload, CentroidsHeader::centroids_offset(),
                                 std::uint64_t{header.clusters} * header.space_dimension);
  result.degrees = take<std::uint32_t>(payload, header.degrees_offset(), header.clusters);
  result.neighbors = take<ClusterId>(payload, header.edges_offset(), header.edges);
  std::uint64_t edges = 0;
  for (const std::uint32_t degree : result.degrees) {
    require(degree <= header.max_degree, source, "a centroid has too many neighbours");
    edges += degree;
  }
  require(edges == header.edges, source, "the degrees of the centroids do not add up");
  require(std::all_of(result.neighbors.begin(), result.neighbors.end(),
                      [&](ClusterId id) { return id < header.clusters; }),
          source, "a centroid has a neighbour that does not exist");
  require(std::all_of(result.centroids.begin(), result.centroids.end(),
                      [](float x) { return std::isfinite(x); }),
          source, "a centroid is not finite");
  if (header.codes_bytes > 0) take_codes(payload, shape, source, result);
  return result;
}

}  // namespace farvec::layout
