// Reads and writes the attributes of an index that stands by itself: the file of its schema, beside
// the file of attributes that a collection's segment has too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "layout/attributes/schema.h"
#include "layout/attributes/tuple.h"
#include "layout/collection/collection_manifest.h"
#include "layout/index/companion_file.h"
#include "layout/index/manifest.h"

namespace farvec::layout {

inline constexpr const char* kIndexSchemaFile = kIndexSchema.name;

/// Begins the file, little-endian; see docs/format.md. The text of the schema follows.
struct IndexSchemaHeader {
  std::uint64_t magic = kIndexSchema.magic;
  std::uint32_t format_version = kCollectionVersion;
  std::uint32_t bytes = 0;              ///< bytes of the text
  std::uint64_t rows = 0;               ///< rows of the index
  std::uint64_t dataset_checksum = 0;   ///< that of the index's vectors, by its manifest
  std::uint64_t attributes_header = 0;  ///< header_checksum of the file of attributes
  std::uint64_t text_checksum = 0;      ///< XXH3-64
  std::uint64_t reserved = 0;
  std::uint64_t header_checksum = 0;  ///< XXH3-64 of the 56 bytes before it
};
static_assert(sizeof(IndexSchemaHeader) == 64);

/// Says that the attributes are not those of a segment.
inline constexpr std::uint64_t kNoSegmentNumber = 0;

/// Gives the index in `folder`, whose manifest this is, attributes: a tuple for each row, of a
/// schema that has columns. Attributes that it has are replaced. Throws Error for another number of
/// rows, and SystemError like OutputFile; after a failure the index has the former attributes,
/// none, or some that are refused when it is opened.
void write_index_attributes(const std::filesystem::path& folder, const Manifest& manifest,
                            const Schema& schema, const TupleView& tuples);

/// Returns the schema of an index; none where its rows have no attributes. Throws Error naming the
/// file and what is wrong: it is damaged, or of another index than the manifest's, or not of the
/// file of attributes that is there.
std::optional<Schema> read_index_schema(const std::filesystem::path& folder,
                                        const Manifest& manifest);

/// Gives the index in `to`, which has the rows of the one in `from`, its attributes, where it has
/// some. Throws what the functions above throw.
void copy_index_attributes(const std::filesystem::path& from, const Manifest& manifest,
                           const std::filesystem::path& to);

/// Returns what the file of attributes is opened by.
SegmentEntry attributes_entry(const Manifest& manifest);

}  // namespace farvec::layout
