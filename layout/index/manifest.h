// A Manifest says what an index is, in words: manifest.json.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/stored_form.h"
#include "base/types.h"
#include "layout/cluster/centroids_shape.h"
#include "layout/graph/codes_shape.h"
#include "layout/index/index_description.h"
#include "layout/index/placement.h"
#include "layout/region/region_header.h"

namespace farvec::layout {

/// Identifies the file from which an index was built.
struct DatasetFingerprint {
  std::string name;             ///< for reports, e.g. "sift1m"
  std::string file;             ///< base name of the path
  std::uint64_t row_bytes = 0;  ///< in the source type
  std::uint64_t rows_hashed = 0;
  std::uint64_t xxh3 = 0;  ///< XXH3-64 of fingerprint()
};

/// Returns XXH3-64 over row count (8 bytes), dimension (4), type (4), then every row without the
/// padding of its stride.
std::uint64_t fingerprint(const VectorView& source);

/// A RegionEntry is one region file. Chunk i covers payload bytes [i * chunk_bytes, (i + 1) *
/// chunk_bytes).
struct RegionEntry {
  RegionKind kind = RegionKind::records_csr;
  std::string file;  ///< name in the index directory
  std::uint64_t payload_bytes = 0;
  std::uint64_t chunk_bytes = 0;
  std::vector<std::uint64_t> checksums;  ///< one XXH3-64 per chunk

  std::uint64_t file_bytes() const { return kRegionHeaderBytes + payload_bytes; }
  std::uint64_t payload_checksum() const;
  RegionHeader header() const;
};

/// Says which second copy of its vectors an index of fewer bits than its data has
/// (layout/index/second_copy.h).
struct SecondCopyEntry {
  ElementType type = ElementType::f32;  ///< that of its rows
  std::uint64_t header_checksum = 0;    ///< that of the file's header
};

/// Has what every index has, and the description that its kind has. Asking for the description of
/// another kind is a broken invariant: test the kind first.
struct Manifest {
  Metric metric = Metric::l2;
  ElementType stored_type = ElementType::f32;  ///< type in the records
  ElementType source_type = ElementType::f32;  ///< type in the data set, and of queries
  std::uint32_t dimension = 0;
  std::uint64_t count = 0;
  /// Empty unless the index's vectors have fewer bits than those of its data: then a file of its
  /// folder has a second copy of these, which says what queries are.
  std::optional<SecondCopyEntry> second_copy;

  IndexDescription description;

  DatasetFingerprint dataset;
  std::string farvec_version;
  std::string farvec_commit;
  std::vector<RegionEntry> regions;    ///< indexed by region number
  std::optional<Placement> placement;  ///< empty: one memory node holds everything

  IndexKind kind() const;
  /// Says whether the records hold unit vectors.
  bool normalised() const { return stores_unit_vectors(metric); }
  bool is_graph() const { return std::holds_alternative<GraphDescription>(description); }
  bool is_cluster() const { return std::holds_alternative<ClusterDescription>(description); }
  /// Says whether it is a cluster index whose lists have the codes of their members.
  bool has_member_codes() const { return is_cluster() && cluster().geometry.has_codes(); }
  /// Says whether it is a graph in slotted pages.
  bool is_slotted() const { return is_graph() && graph().slotted.has_value(); }
  const GraphDescription& graph() const;
  GraphDescription& graph();
  const ClusterDescription& cluster() const;
  ClusterDescription& cluster();
  const SlottedDescription& slotted() const;
  SlottedDescription& slotted();

  std::string_view layout_name() const;
  bool has_record_checksums() const;
  std::uint32_t vector_bytes() const {
    return static_cast<std::uint32_t>(packed_bytes(stored_type, dimension));
  }
  /// Returns the bytes of the data set's vectors alone, the measure for amplification. An index of
  /// fewer bits than its data has fewer.
  std::uint64_t dataset_bytes() const { return count * dataset.row_bytes; }
  /// Returns the bytes of the second copy; 0 where there is none.
  std::uint64_t second_copy_bytes() const;

  // For graphs only, from their description and from what every index has.
  GraphGeometry graph_geometry() const;
  CodesShape codes_shape() const;
  /// For slotted pages only, whose page_bytes are the block_bytes of the graph.
  SlottedGeometry slotted_geometry() const;
  double average_degree() const {
    return static_cast<double>(graph().edges) / static_cast<double>(count);
  }

  /// It is for clusters only.
  CentroidsShape centroids_shape() const;

  /// Looks a region up by its number.
  const RegionEntry& region(std::uint32_t region) const { return regions.at(region); }

  /// Returns the bytes of the index's own regions that memory nodes serve, headers included.
  std::array<std::uint64_t, kRegionCount> region_bytes() const;
  /// Returns those, and after them the bytes of the second copy where there is one: its region is
  /// kSecondCopyRegion. Nodes may have files in regions after these.
  std::vector<std::uint64_t> held_bytes() const;
  /// Returns how many regions these are; none in a manifest of no index.
  std::uint32_t held_regions() const {
    return regions.empty() ? 0 : kRegionCount + (second_copy ? 1 : 0);
  }
  std::uint32_t memory_nodes() const { return placement ? placement->nodes : 1; }
  /// Returns the bytes of the region, one of the held_regions(), that memory node `node` serves,
  /// header included.
  std::uint64_t node_bytes(std::uint32_t node, std::uint32_t region) const;
  /// Returns the bytes of all regions that memory node `node` serves.
  std::uint64_t node_bytes(std::uint32_t node) const;
};

/// Throws Error, naming `source`, when no memory node can hold the index because it is made for
/// SSDs.
void require_memory_layout(const Manifest& manifest, std::string_view source);

std::string manifest_to_json(const Manifest& manifest);

/// Returns the checksum of a manifest's JSON. Two indexes with the same one have the same bytes,
/// because the manifest has the checksums of all regions.
std::uint64_t manifest_checksum(std::string_view json);

/// Throws Error, naming `source` and the field, when anything is missing, of the wrong type, out of
/// range, or contradicts something else in the manifest.
Manifest manifest_from_json(std::string_view text, std::string_view source);

}  // namespace farvec::layout
