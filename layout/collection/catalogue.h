// A Catalogue is what memory nodes hold of a collection beside its segments, for readers that do
// not see its folder: the manifest, what identifies each segment's bytes, the rows that are out,
// and the attributes that were updated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/row_set.h"
#include "layout/attributes/updated_tuples.h"
#include "layout/collection/collection_manifest.h"
#include "layout/collection/segment_attributes.h"

namespace farvec::layout {

/// Begins a catalogue, little-endian; see docs/format.md. After it come the manifest, the segments'
/// CatalogueEntry, and for each segment the blocks that have rows which are out. Where the rows
/// have attributes, the version is kWithAttributes. Then the segments' CatalogueAttributes come
/// after their CatalogueEntry, and their files of updates at the end.
struct CatalogueHeader {
  static constexpr std::uint64_t kMagic = 0x5441434356524146;  // "FARVCCAT"
  static constexpr std::uint32_t kWithAttributes = 2;
  static_assert(kWithAttributes > kCollectionVersion, "older farvecs refuse it");

  std::uint64_t magic = kMagic;
  std::uint32_t format_version = kCollectionVersion;
  std::uint32_t segments = 0;
  std::uint64_t manifest_bytes = 0;   ///< zeros follow up to a multiple of 8
  std::uint64_t blocks = 0;           ///< blocks of all segments
  std::uint64_t reserved[2] = {};     ///< 0
  std::uint64_t body_checksum = 0;    ///< XXH3-64 of all bytes after the header
  std::uint64_t header_checksum = 0;  ///< XXH3-64 of the 56 bytes before it
};
static_assert(sizeof(CatalogueHeader) == 64);
static_assert(offsetof(CatalogueHeader, segments) == 12);
static_assert(offsetof(CatalogueHeader, body_checksum) == 48);

/// Belongs to the manifest's segment of the same index.
struct CatalogueEntry {
  std::uint64_t index_checksum = 0;
  std::uint64_t ids_checksum = 0;
  std::uint64_t out_blocks = 0;
};
static_assert(sizeof(CatalogueEntry) == 24);

/// Belongs to the manifest's segment of the same index; zeros where it is not attributed.
struct CatalogueAttributes {
  std::uint64_t bytes = 0;          ///< bytes of the file of attributes
  std::uint64_t checksum = 0;       ///< XXH3-64 of that file
  std::uint64_t updates_bytes = 0;  ///< bytes of its file of updates; 0: none was updated
};
static_assert(sizeof(CatalogueAttributes) == 24);

/// Says which rows of a segment are out; only blocks with such rows are stored.
struct CatalogueBlock {
  std::uint64_t number = 0;  ///< it has the rows from number * RowSet::kBlockRows on
  RowSet::Block words{};
};
static_assert(sizeof(CatalogueBlock) == 8 + RowSet::kBlockRows / 8);

struct CatalogueSegment {
  std::uint64_t index_checksum = 0;  ///< layout::manifest_checksum() of its index
  std::uint64_t ids_checksum = 0;    ///< layout::segment_ids_checksum()
  RowSet out;                        ///< at the manifest's out_version
  FileSum attributes = {};           ///< the file of attributes; empty where there is none
  UpdatedTuples updates = {};        ///< at the manifest's update_version
};

struct Catalogue {
  CollectionManifest manifest;
  std::vector<CatalogueSegment> segments;  ///< in the order of the manifest
};

/// Throws Error, naming `source`, unless the bytes begin with the header of a catalogue of this
/// version.
void require_catalogue_header(std::span<const std::byte> begin, std::string_view source);

/// The catalogue has a segment for each of the manifest's, with as many rows that are out, and that
/// were updated, as the manifest says.
std::vector<std::byte> encode_catalogue(const Catalogue& catalogue);

/// Throws Error, naming `source` and what is wrong, when the bytes are truncated, damaged, of
/// another format or version, or contradict themselves or the manifest in them. Throws also what
/// collection_from_json() throws.
Catalogue decode_catalogue(std::span<const std::byte> bytes, std::string_view source);

}  // namespace farvec::layout
