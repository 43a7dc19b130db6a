#include "layout/collection/index_attributes.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/input_file.h"
#include "base/output_file.h"
#include "layout/collection/collection_format.h"
#include "layout/collection/segment_attributes.h"

namespace farvec::layout {
namespace {

std::uint64_t checksum_of_schema(const IndexSchemaHeader& header) {
  return XXH3_64bits(&header, offsetof(IndexSchemaHeader, header_checksum));
}

IndexSchemaHeader read_schema_header(const InputFile& file) {
  IndexSchemaHeader header;
  if (file.size() < sizeof(header)) {
    throw Error("'{}' is truncated: {} bytes cannot hold a header of {}: write the attributes anew",
                file.path(), file.size(), sizeof(header));
  }
  file.read_at(0, &header, sizeof(header));
  if (header.magic != kIndexSchema.magic) {
    throw Error("'{}' is no schema of an index: it begins with {:#018x}", file.path(),
                header.magic);
  }
  require_collection_version(header.format_version, fmt::format("'{}'", file.path()));
  if (header.header_checksum != checksum_of_schema(header) ||
      file.size() != sizeof(header) + header.bytes) {
    throw Error("'{}' is damaged: write the attributes anew", file.path());
  }
  return header;
}

/// Throws unless the file of attributes is the one that the schema was written for.
void require_file_of_attributes(const std::filesystem::path& folder,
                                const IndexSchemaHeader& header, const Manifest& manifest) {
  const std::filesystem::path path = folder / kSegmentAttributesFile;
  const SegmentAttributesFile file(path, attributes_entry(manifest));
  if (file.header_checksum() == header.attributes_header) return;
  throw Error("'{}' is not the file of attributes that '{}' was written for: write both anew",
              path.string(), (folder / kIndexSchemaFile).string());
}

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
  header.header_checksum = checksum_of_schema(header);
  OutputFile file((folder / kIndexSchemaFile).string(), sizeof(header) + text.size());
  file.append(&header, sizeof(header));
  file.append(text.data(), text.size());
  file.commit();
}

std::optional<Schema> read_index_schema(const std::filesystem::path& folder,
                                        const Manifest& manifest) {
  const std::filesystem::path path = folder / kIndexSchemaFile;
  if (!std::filesystem::exists(path)) return std::nullopt;
  const InputFile file(path.string());
  const IndexSchemaHeader header = read_schema_header(file);
  if (header.rows != manifest.count || header.dataset_checksum != manifest.dataset.xxh3) {
    throw Error("'{}' is of an index of other vectors: write the attributes anew", path.string());
  }
  std::string text(header.bytes, '\0');
  file.read_at(sizeof(header), text.data(), text.size());
  if (XXH3_64bits(text.data(), text.size()) != header.text_checksum) {
    throw Error("'{}' is damaged: write the attributes anew", path.string());
  }
  require_file_of_attributes(folder, header, manifest);
  Schema schema;
  try {
    schema = parse_schema(text);
  } catch (const Error& error) {
    throw Error("'{}': {}", path.string(), error.what());
  }
  if (schema.empty()) throw Error("'{}' has no columns", path.string());
  return schema;
}

void copy_index_attributes(const std::filesystem::path& from, const Manifest& manifest,
                           const std::filesystem::path& to) {
  const std::optional<Schema> schema = read_index_schema(from, manifest);
  if (!schema) return;
  const SegmentAttributesFile file(from / kSegmentAttributesFile, attributes_entry(manifest));
  write_index_attributes(to, manifest, *schema, file.read(*schema).view());
}

}  // namespace farvec::layout
