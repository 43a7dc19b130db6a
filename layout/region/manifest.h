// What an index is, in words: manifest.json.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "layout/graph/graph_layout.h"
#include "layout/pages/entry_graph.h"
#include "layout/pages/slotted_geometry.h"
#include "layout/region/placement.h"
#include "layout/region/region_header.h"

namespace farvec::layout {

/// Everything that, with the data set, decides the index.
struct BuildParameters {
  std::uint32_t degree = 0;
  std::uint32_t list = 0;
  double alpha = 0;
  std::uint32_t passes = 0;
  std::uint64_t seed = 0;
  std::uint32_t code_bits = 0;
};

/// The same for a cluster index.
struct ClusterBuildParameters {
  std::uint32_t replicas = 0;  ///< R: most clusters per vector
  double closure_ratio = 0;
  double balance = 0;
  std::uint64_t sample = 0;  ///< rows that k-means saw
  std::uint64_t seed = 0;
};

/// The file an index was built from.
struct DatasetFingerprint {
  std::string name;             ///< for reports, e.g. "sift1m"
  std::string file;             ///< base name of the path
  std::uint64_t row_bytes = 0;  ///< in the source type
  std::uint64_t rows_hashed = 0;
  std::uint64_t xxh3 = 0;  ///< XXH3-64 of fingerprint()
};

/// XXH3-64 over row count (8 bytes), dimension (4), type (4), then every row without its stride.
std::uint64_t fingerprint(const VectorView& source);

/// One region file. Chunk i covers payload bytes [i * chunk_bytes, (i + 1) * chunk_bytes).
struct RegionEntry {
  RegionKind kind = RegionKind::records_csr;
  std::string file;  ///< in the index directory
  std::uint64_t payload_bytes = 0;
  std::uint64_t chunk_bytes = 0;
  std::vector<std::uint64_t> checksums;  ///< XXH3-64

  std::uint64_t file_bytes() const { return kRegionHeaderBytes + payload_bytes; }
  std::uint64_t payload_checksum() const;
  RegionHeader header() const;
};

/// What a graph index in slotted pages has besides.
struct SlottedDescription {
  PayloadKind payload = PayloadKind::code;
  std::uint32_t extension_bits = 0;
  std::uint32_t payload_bytes = 0;
  std::uint32_t pages = 0;
  std::string placement;  ///< how records were given to pages: affinity, bnf, id
  bool rerank = false;    ///< a fifth region holds the stored vectors, one after another
  /// Pairs that the build found to be affine, and those of them that share a page.
  std::uint64_t affine_pairs = 0;
  std::uint64_t affine_pairs_together = 0;
  EntryGraphShape entries;
};

enum class IndexKind : std::uint8_t { graph = 0, cluster = 1 };

/// "graph", "cluster".
std::string_view to_string(IndexKind kind);

struct Manifest {
  IndexKind index = IndexKind::graph;
  Metric metric = Metric::l2;
  ElementType stored_type = ElementType::f32;  ///< in the records
  ElementType source_type = ElementType::f32;  ///< in the data set, and of queries
  bool normalised = false;                     ///< the records hold unit vectors
  std::uint32_t dimension = 0;
  std::uint64_t count = 0;

  // Graph indexes only.
  LayoutKind layout = LayoutKind::csr;
  bool record_checksum = false;
  std::uint32_t block_bytes = 4096;
  std::uint32_t max_degree = 0;
  std::uint64_t edges = 0;
  NodeId entry = 0;

  SlottedDescription slotted;

  BuildParameters build;

  // Cluster indexes only. The vector_bytes and count of `cluster` agree with dimension, stored_type
  // and count above.
  ClusterGeometry cluster;
  ClusterBuildParameters cluster_build;
  /// [i] vectors are in i + 1 clusters.
  std::array<std::uint64_t, kMaxReplicas> replication{};

  DatasetFingerprint dataset;
  std::string farvec_version;
  std::string farvec_commit;
  std::vector<RegionEntry> regions;    ///< by region number
  std::optional<Placement> placement;  ///< none: one memory node holds everything

  GraphGeometry geometry() const;
  /// The geometry of the slotted layout, whose page_bytes are the block_bytes here.
  SlottedGeometry slotted_geometry() const;
  bool is_slotted() const { return index == IndexKind::graph && layout == LayoutKind::slotted; }
  std::uint32_t extension_bits() const { return is_slotted() ? slotted.extension_bits : 0; }
  std::string_view layout_name() const {
    return index == IndexKind::graph ? to_string(layout) : to_string(cluster.kind);
  }
  double average_degree() const { return static_cast<double>(edges) / static_cast<double>(count); }
  /// Bytes of the source vectors alone: what amplification is measured against.
  std::uint64_t dataset_bytes() const {
    return count * dimension * std::uint64_t{element_bytes(source_type)};
  }
  /// By region number.
  const RegionEntry& region(std::uint32_t region) const { return regions.at(region); }

  /// Bytes of the regions that memory nodes serve, headers included.
  std::array<std::uint64_t, kRegionCount> region_bytes() const;
  std::uint32_t memory_nodes() const { return placement ? placement->nodes : 1; }
  /// Bytes of the region that memory node `node` serves, header included.
  std::uint64_t node_bytes(std::uint32_t node, std::uint32_t region) const {
    return placement ? placement->regions[region].node_bytes(node)
                     : regions.at(region).file_bytes();
  }
  /// Bytes of all regions that memory node `node` serves.
  std::uint64_t node_bytes(std::uint32_t node) const;
};

/// Throws Error, naming `source`, when no memory node can hold the index because it is made for
/// SSDs.
void require_memory_layout(const Manifest& manifest, std::string_view source);

std::string manifest_to_json(const Manifest& manifest);

/// Throws Error, naming `source` and the field, when anything is missing, of the wrong type, out of
/// range, or contradicts something else in the manifest.
Manifest manifest_from_json(std::string_view text, std::string_view source);

}  // namespace farvec::layout
