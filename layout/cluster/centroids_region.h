// The centroids region holds what a compute node needs to find the nearest clusters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "base/node_record.h"
#include "base/types.h"
#include "layout/cluster/centroids_shape.h"
#include "layout/graph/codes_region.h"

namespace farvec::layout {

/// A CentroidsHeader is the first bytes of the payload. From centroids_offset() on follow the
/// centroids, `space_dimension` floats each, then the degrees of the graph over them, then its
/// edges, then, in the coded layout, what estimates need beside the codes. Little-endian; see
/// docs/format.md.
struct CentroidsHeader {
  std::uint32_t clusters = 0;
  std::uint32_t space_dimension = 0;  ///< one more than the vectors' dimension for inner product
  std::uint32_t max_degree = 0;       ///< largest degree of the graph over the centroids
  std::uint32_t entry = 0;
  std::uint64_t edges = 0;
  /// Bytes of a CodesHeader and its centroid; 0: there are no codes.
  std::uint64_t codes_bytes = 0;
  std::uint64_t spare[4] = {};

  static constexpr std::uint64_t centroids_offset() { return 4096; }
  std::uint64_t degrees_offset() const {
    return centroids_offset() + std::uint64_t{clusters} * space_dimension * sizeof(float);
  }
  std::uint64_t edges_offset() const {
    return degrees_offset() + std::uint64_t{clusters} * sizeof(std::uint32_t);
  }
  std::uint64_t codes_offset() const { return edges_offset() + edges * sizeof(ClusterId); }
  std::uint64_t payload_bytes() const { return codes_offset() + codes_bytes; }
};
static_assert(sizeof(CentroidsHeader) == 64);
static_assert(offsetof(CentroidsHeader, edges) == 16);

/// A CentroidsView borrows what a writer stores.
struct CentroidsView {
  std::span<const float> centroids;
  std::uint32_t space_dimension = 0;
  AdjacencyView graph;
  CodesView codes = {};  ///< without records; its dimension is 0 where there are no codes
};

/// Centroids are what a reader keeps.
struct Centroids {
  CentroidsHeader header;
  std::vector<float> centroids;
  std::vector<std::uint32_t> degrees;
  std::vector<ClusterId> neighbors;  ///< neighbours of all clusters, one cluster after another
  /// For the coded layout. Its record_bytes are the bytes of a block, its count is the number of
  /// members.
  CodesHeader codes;
  std::vector<float> code_centroid;
};

/// Encodes the whole payload.
std::vector<std::byte> encode_centroids(const CentroidsView& view);

/// Parses a region's bytes, header included. Throws Error, naming `source`, when they do not have
/// the `shape` or contradict themselves.
Centroids parse_centroids(std::span<const std::byte> region, const CentroidsShape& shape,
                          std::string_view source);

}  // namespace farvec::layout
