// Reads and writes the attributes of an index that stands by itself: the file of its schema, beside
// the file of attributes that a collection's segment has too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

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

/// The most bytes of a schema's text: all columns that it may have, with their longest names.
inline constexpr std::uint64_t kMostSchemaBytes = std::uint64_t{1} << 16;

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

/// Both files as a memory node holds them. They are borrowed, and come from a peer or a disk.
struct IndexAttributesBytes {
  std::span<const std::byte> schema;
  std::span<const std::byte> attributes;
};

/// Throws Error, naming `source`, unless files of these lengths, the schema's first, can be those
/// of the index; to be called before anything of them is read.
void require_index_files(std::span<const std::uint64_t> bytes, const Manifest& manifest,
                         std::string_view source);

/// Returns the schema that the bytes have. Throws Error, naming `source`, for what
/// read_index_schema() refuses.
Schema decode_index_schema(const IndexAttributesBytes& bytes, const Manifest& manifest,
                           std::string_view source);
/// Returns the tuples of all rows, of the schema that decode_index_schema() returned. Throws Error,
/// naming `source`, where they are damaged.
Tuples decode_index_tuples(const IndexAttributesBytes& bytes, const Manifest& manifest,
                           const Schema& schema, std::string_view source);
/// Throws Error, naming `source`, unless both files are whole, and of this index. It looks at no
/// tuple.
void require_index_attributes(const IndexAttributesBytes& bytes, const Manifest& manifest,
                              std::string_view source);
/// Throws Error, naming `path`, unless the bytes begin with the header of a schema, of 64 bytes.
void require_index_schema_header(std::span<const std::byte> begin, std::string_view path);

/// Throws Error, naming the index, where rows of this schema belong to tenants: what forgets whose
/// they are would find the rows of all. A memory device has no place for attributes.
void require_no_tenants(const Schema& schema, std::string_view index);

/// Returns what the file of attributes is opened by.
SegmentEntry attributes_entry(const Manifest& manifest);

}  // namespace farvec::layout
