// An IndexDirectory reads an index on disk: manifest.json and one file per region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "base/memory.h"
#include "layout/cluster/centroids_region.h"
#include "layout/cluster/cluster_layout.h"
#include "layout/graph/codes_region.h"
#include "layout/graph/graph_layout.h"
#include "layout/index/load_options.h"
#include "layout/index/manifest.h"
#include "layout/pages/entry_graph.h"
#include "layout/pages/page_map.h"

namespace farvec::layout {

inline constexpr const char* kManifestFile = "manifest.json";

/// Immutable after open(); may be shared by threads. All members throw Error that names file and
/// reason.
class IndexDirectory {
 public:
  /// Reads and checks the manifest, the size of every region file, and every region header. Reads
  /// no payload.
  static IndexDirectory open(const std::filesystem::path& directory);

  const Manifest& manifest() const { return manifest_; }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path region_path(std::uint32_t region) const;

  /// Throws Error, naming `source`, unless `region_bytes` begins with the header of this index's
  /// region. For regions that were loaded elsewhere and are used where they are.
  void check_header(std::uint32_t region, std::span<const std::byte> region_bytes,
                    const std::string& source) const;

  /// Copies a whole region, header included, to `destination` (exactly file_bytes() long, 8-byte
  /// aligned), checking every chunk at its destination. The header is stored last, its magic with
  /// release order, so that a process that shares the memory sees a published region or none. After
  /// an error the destination holds arbitrary bytes, but no header.
  void load_region(std::uint32_t region, std::span<std::byte> destination,
                   const LoadOptions& options = {}) const;
  HugeBuffer load_region(std::uint32_t region, const LoadOptions& options = {}) const;

  /// Loads what memory node `node` serves of the region: `destination` is exactly
  /// manifest().node_bytes(node, region) long. Chunks are checked as a whole, also those of which
  /// the node keeps a part.
  void load_share(std::uint32_t region, std::uint32_t node, std::span<std::byte> destination,
                  const LoadOptions& options = {}) const;

  Codes load_codes(const LoadOptions& options = {}) const;
  /// Reads the offsets region, whatever the layout.
  OffsetTable load_offset_table(const LoadOptions& options = {}) const;
  /// The locator has the offset table when the layout is csr. There is no locator for slotted
  /// pages.
  GraphLocator load_locator(const LoadOptions& options = {}) const;

  /// The page map and the entries are for slotted indexes only.
  PageMap load_page_map(const LoadOptions& options = {}) const;
  EntryGraph load_entry_graph(const LoadOptions& options = {}) const;

  /// Centroids and the table of clusters are for cluster indexes only.
  Centroids load_centroids(const LoadOptions& options = {}) const;
  ClusterLocator load_cluster_locator(const LoadOptions& options = {}) const;

  /// Reads everything and compares every checksum; throws at the first that does not match, naming
  /// file, chunk and offset. In slotted pages every record is decoded too.
  void verify(const LoadOptions& options = {}) const;

 private:
  IndexDirectory(std::filesystem::path path, Manifest manifest);
  struct Piece;
  std::vector<Piece> pieces_of(std::uint32_t region, std::uint32_t node) const;
  void load_pieces(std::uint32_t region, const std::vector<Piece>& pieces,
                   std::span<std::byte> destination, const LoadOptions& options) const;

  std::filesystem::path path_;
  Manifest manifest_;
};

/// Takes over the bytes of an offsets region, header included, wherever they came from.
OffsetTable parse_offset_table(HugeBuffer region, const Manifest& manifest);

/// Takes over the bytes of a clusters region in the same way.
ClusterLocator parse_cluster_table(HugeBuffer region, const Manifest& manifest);

/// Throws Error, naming `source`, unless `block` is the published header of the entry's region.
void require_region_header(const RegionEntry& entry, std::span<const std::byte> block,
                           const std::string& source);

/// Throws Error when chunk `chunk` of a region does not have the manifest's checksum.
void check_chunk(const RegionEntry& entry, std::size_t chunk, std::span<const std::byte> bytes,
                 const std::string& file);

}  // namespace farvec::layout
