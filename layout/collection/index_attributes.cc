#include "layout/collection/index_attributes.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/input_file.h"
#include "base/output_file.h"
#include "layout/collection/segment_attributes.h"
#include "layout/collection/tuple_file.h"

namespace farvec::layout {
namespace {

IndexSchemaHeader read_schema_header(const FileBytes& file, const Manifest& manifest) {
  const auto header =
      read_sealed_header<IndexSchemaHeader>(file, kIndexSchema.magic, "an index's schema");
  if (header.rows != manifest.count || header.dataset_checksum != manifest.dataset.xxh3) {
    throw Error("{} is of an index of other vectors: write the attributes anew", file.name());
  }
  if (file.size() == sizeof(header) + header.bytes) return header;
  throw Error("{} is damaged: write the attributes anew", file.name());
}

Schema read_schema(const FileBytes& file, const IndexSchemaHeader& header) {
  std::string text(header.bytes, '\0');
  file.read_at(sizeof(header), text.data(), text.size());
  if (XXH3_64bits(text.data(), text.size()) != header.text_checksum) {
    throw Error("{} is damaged: write the attributes anew", file.name());
  }
  Schema schema;
  try {
    schema = parse_schema(text);
  } catch (const Error& error) {
    throw Error("{}: {}", file.name(), error.what());
  }
  if (schema.empty()) throw Error("{} has no columns", file.name());
  return schema;
}

/// Throws unless the file of attributes, whose header has this checksum, is the one that the schema
/// was written for.
void require_file_of_attributes(const IndexSchemaHeader& header, std::uint64_t attributes,
                                std::string_view path, const FileBytes& schema) {
  if (header.attributes_header == attributes) return;
  throw Error("{} is not the file of attributes that {} was written for: write both anew", path,
              schema.name());
}

/// The two files that memory nodes hold, with their names for messages.
struct HeldPair {
  HeldPair(const IndexAttributesBytes& bytes, std::string_view source)
      : schema(bytes.schema, fmt::format("the schema of {}", source)),
        attributes(fmt::format("the file of attributes of {}", source)) {}
  const FileBytes schema;
  const std::string attributes;
};

}  // namespace

SegmentEntry attributes_entry(const Manifest& manifest) {
  return {.number = kNoSegmentNumber, .rows = manifest.count, .attributed = true};
}

void write_index_attributes(const std::filesystem::path& folder, const Manifest& manifest,
                            const Schema& schema, const TupleView& tuples) {
  if (tuples.count() != manifest.count) {
    throw Error("the attributes of {} rows came for '{}', which has {}", tuples.count(),
                folder.string(), manifest.count);
  }
  const std::filesystem::path attributes = folder / kSegmentAttributesFile;
  const SegmentEntry entry = attributes_entry(manifest);
  write_segment_attributes(attributes, entry, tuples);
  const std::string text = to_string(schema);
  IndexSchemaHeader header{
      .bytes = static_cast<std::uint32_t>(text.size()),
      .rows = manifest.count,
      .dataset_checksum = manifest.dataset.xxh3,
      .attributes_header = SegmentAttributesFile(attributes, entry).header_checksum(),
      .text_checksum = XXH3_64bits(text.data(), text.size())};
  header.header_checksum = header_checksum_of(header);
  OutputFile file((folder / kIndexSchemaFile).string(), sizeof(header) + text.size());
  file.append(&header, sizeof(header));
  file.append(text.data(), text.size());
  file.commit();
}

std::optional<Schema> read_index_schema(const std::filesystem::path& folder,
                                        const Manifest& manifest) {
  const std::filesystem::path path = folder / kIndexSchemaFile;
  if (!std::filesystem::exists(path)) return std::nullopt;
  const InputFile opened(path.string());
  const FileBytes file(opened);
  const IndexSchemaHeader header = read_schema_header(file, manifest);
  const Schema schema = read_schema(file, header);
  const std::filesystem::path attributes = folder / kSegmentAttributesFile;
  require_file_of_attributes(
      header, SegmentAttributesFile(attributes, attributes_entry(manifest)).header_checksum(),
      fmt::format("'{}'", attributes.string()), file);
  return schema;
}

Schema decode_index_schema(const IndexAttributesBytes& bytes, const Manifest& manifest,
                           std::string_view source) {
  const HeldPair held(bytes, source);
  const IndexSchemaHeader header = read_schema_header(held.schema, manifest);
  const Schema schema = read_schema(held.schema, header);
  require_file_of_attributes(
      header,
      segment_attributes_header(bytes.attributes, attributes_entry(manifest), held.attributes),
      held.attributes, held.schema);
  return schema;
}

Tuples decode_index_tuples(const IndexAttributesBytes& bytes, const Manifest& manifest,
                           const Schema& schema, std::string_view source) {
  return decode_segment_attributes(bytes.attributes, attributes_entry(manifest), schema,
                                   HeldPair(bytes, source).attributes);
}

void require_index_attributes(const IndexAttributesBytes& bytes, const Manifest& manifest,
                              std::string_view source) {
  (void)decode_index_schema(bytes, manifest, source);
  require_segment_attributes_checksum(bytes.attributes, HeldPair(bytes, source).attributes);
}

void require_index_files(std::span<const std::uint64_t> bytes, const Manifest& manifest,
                         std::string_view source) {
  const bool are_two = bytes.size() == 2;
  if (!are_two || bytes[0] > sizeof(IndexSchemaHeader) + kMostSchemaBytes) {
    throw Error("{} has {} files{}, which cannot be the schema and the attributes of an index",
                source, bytes.size(), are_two ? fmt::format(", one of {} bytes", bytes[0]) : "");
  }
  require_attributes_bytes(attributes_entry(manifest), bytes[1], source);
}

void require_index_schema_header(std::span<const std::byte> begin, std::string_view path) {
  (void)read_sealed_header<IndexSchemaHeader>(FileBytes(begin, fmt::format("'{}'", path)),
                                              kIndexSchema.magic, "an index's schema");
}

void require_no_tenants(const Schema& schema, std::string_view index) {
  if (!schema.tenant()) return;
  throw Error(
      "'{}': its rows belong to tenants, and a memory device does not hold whose they are: serve "
      "the folder with farvec-compute-node --index, or with a memory node whose --backing is dram, "
      "shm or file",
      index);
}

void copy_index_attributes(const std::filesystem::path& from, const Manifest& manifest,
                           const std::filesystem::path& to) {
  const std::optional<Schema> schema = read_index_schema(from, manifest);
  if (!schema) return;
  const SegmentAttributesFile file(from / kSegmentAttributesFile, attributes_entry(manifest));
  write_index_attributes(to, manifest, *schema, file.read(*schema).view());
}

}  // namespace farvec::layout
