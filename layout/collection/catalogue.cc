#include "layout/collection/catalogue.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/memory.h"
#include "layout/collection/updates_file.h"

namespace farvec::layout {
namespace {

constexpr std::size_t kAlignment = 8;
constexpr std::size_t kBlockWords = RowSet::kBlockRows / RowSet::kWordBits;

std::uint64_t checksum_of(const CatalogueHeader& header) {
  return XXH3_64bits(&header, offsetof(CatalogueHeader, header_checksum));
}

void append(std::vector<std::byte>& bytes, const void* data, std::size_t count) {
  const std::size_t at = bytes.size();
  bytes.resize(at + count);
  if (count > 0) std::memcpy(bytes.data() + at, data, count);
}

/// Where no row has attributes, older farvecs read the catalogue too.
std::uint32_t catalogue_version(const CollectionManifest& manifest) {
  return manifest.schema.empty() ? kCollectionVersion : CatalogueHeader::kWithAttributes;
}

/// Appends the blocks and returns how many there are.
std::uint64_t append_blocks(std::vector<std::byte>& bytes, const RowSet& out, std::uint64_t rows) {
  const std::vector<std::uint64_t> words = out.to_words(rows);
  std::uint64_t blocks = 0;
  for (std::size_t begin = 0; begin < words.size(); begin += kBlockWords) {
    const auto part = std::span(words).subspan(begin, std::min(kBlockWords, words.size() - begin));
    if (std::ranges::all_of(part, [](std::uint64_t word) { return word == 0; })) continue;
    CatalogueBlock block{.number = begin / kBlockWords};
    std::ranges::copy(part, block.words.begin());
    append(bytes, &block, sizeof(block));
    ++blocks;
  }
  return blocks;
}

/// Appends what the catalogue says of the segments' attributes, where there are any. Returns their
/// updates, which come later.
std::vector<std::byte> append_attributes(std::vector<std::byte>& bytes,
                                         const Catalogue& catalogue) {
  std::vector<std::byte> updates;
  if (catalogue.manifest.schema.empty()) return updates;
  for (std::size_t i = 0; i < catalogue.segments.size(); ++i) {
    const CatalogueSegment& segment = catalogue.segments[i];
    CatalogueAttributes entry{segment.attributes.bytes, segment.attributes.checksum, 0};
    const SegmentEntry& known = catalogue.manifest.segments[i];
    if (known.update_count != 0) {
      const std::vector<std::byte> file = encode_updates(known, segment.updates);
      entry.updates_bytes = file.size();
      append(updates, file.data(), file.size());
    }
    append(bytes, &entry, sizeof(entry));
  }
  return updates;
}

/// Takes a catalogue apart from its beginning on.
class Parts {
 public:
  Parts(std::span<const std::byte> bytes, std::string_view source)
      : bytes_(bytes), source_(source) {}

  std::span<const std::byte> take(std::uint64_t bytes, const char* what) {
    if (bytes > bytes_.size()) {
      throw Error("{} is truncated: {} bytes of {} are not there", source_, bytes - bytes_.size(),
                  what);
    }
    const auto taken = bytes_.first(bytes);
    bytes_ = bytes_.subspan(bytes);
    return taken;
  }
  template <typename T>
  T take(const char* what) {
    return load_unaligned<T>(take(sizeof(T), what).data());
  }
  std::span<const std::byte> rest() const { return bytes_; }
  std::string_view source() const { return source_; }

 private:
  std::span<const std::byte> bytes_;
  const std::string_view source_;
};

/// Reads only the header.
CatalogueHeader begin_header(Parts& parts) {
  const auto header = parts.take<CatalogueHeader>("its header");
  if (header.magic != CatalogueHeader::kMagic) {
    throw Error("{} is no catalogue of a collection: it begins with {:#018x}", parts.source(),
                header.magic);
  }
  if (header.format_version != CatalogueHeader::kWithAttributes) {
    require_collection_version(header.format_version, parts.source());
  }
  if (header.header_checksum != checksum_of(header)) {
    throw Error("{} is damaged: the checksum of its header does not match", parts.source());
  }
  return header;
}

CatalogueHeader take_header(Parts& parts) {
  const CatalogueHeader header = begin_header(parts);
  const auto body = parts.rest();
  if (XXH3_64bits(body.data(), body.size()) != header.body_checksum) {
    throw Error("{} is damaged: the checksum of its {} bytes after the header does not match",
                parts.source(), body.size());
  }
  return header;
}

CollectionManifest take_manifest(Parts& parts, const CatalogueHeader& header) {
  const auto text = parts.take(header.manifest_bytes, "its manifest");
  (void)parts.take(round_up(text.size(), kAlignment) - text.size(), "its manifest");
  CollectionManifest manifest = collection_from_json(
      {reinterpret_cast<const char*>(text.data()), text.size()}, parts.source());
  if (manifest.segments.size() != header.segments) {
    throw Error("{} has {} segments, and its manifest {}", parts.source(), header.segments,
                manifest.segments.size());
  }
  if (header.format_version == catalogue_version(manifest)) return manifest;
  throw Error(
      "{} has version {}, which is not that of rows {} attributes: open the collection for writing "
      "with this farvec, which brings them to memory nodes",
      parts.source(), header.format_version, manifest.schema.empty() ? "without" : "with");
}

RowSet take_out(Parts& parts, std::uint64_t blocks, const SegmentEntry& segment) {
  if (blocks == 0 && segment.out_count == 0) return {};
  std::vector<std::uint64_t> words((segment.rows + RowSet::kWordBits - 1) / RowSet::kWordBits);
  const std::uint64_t behind = segment.rows % RowSet::kWordBits;
  std::uint64_t least = 0;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const auto block = parts.take<CatalogueBlock>("rows that are out");
    if (block.number < least || block.number * kBlockWords >= words.size()) {
      throw Error("{}: block {} of rows that are out of segment {} is not one of {} rows",
                  parts.source(), block.number, segment.number, segment.rows);
    }
    least = block.number + 1;
    const auto here = std::span(words).subspan(block.number * kBlockWords);
    const std::size_t count = std::min(here.size(), kBlockWords);
    std::copy_n(block.words.begin(), count, here.begin());
    if (std::any_of(block.words.begin() + static_cast<std::ptrdiff_t>(count), block.words.end(),
                    [](std::uint64_t word) { return word != 0; })) {
      throw Error("{}: rows after the last of segment {} are out", parts.source(), segment.number);
    }
  }
  if (behind != 0 && words.back() >> behind != 0) {
    throw Error("{}: rows after the last of segment {} are out", parts.source(), segment.number);
  }
  RowSet out = RowSet::from_words(words);
  if (out.count() == segment.out_count) return out;
  throw Error("{}: {} rows of segment {} are out, and its manifest says {}", parts.source(),
              out.count(), segment.number, segment.out_count);
}

/// Returns what the catalogue says of each segment; the manifest's segments were read.
std::vector<CatalogueEntry> take_entries(Parts& parts, const CatalogueHeader& header) {
  std::vector<CatalogueEntry> entries;
  std::uint64_t blocks = 0;
  for (std::uint32_t i = 0; i < header.segments; ++i) {
    entries.push_back(parts.take<CatalogueEntry>("its segments"));
    blocks += entries.back().out_blocks;
  }
  if (blocks == header.blocks) return entries;
  throw Error("{} has {} blocks of rows that are out, where its header's {} are due",
              parts.source(), blocks, header.blocks);
}

/// Returns zeros where no row has attributes.
std::vector<CatalogueAttributes> take_attributes(Parts& parts, const CollectionManifest& manifest) {
  std::vector<CatalogueAttributes> all(manifest.segments.size());
  if (manifest.schema.empty()) return all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const SegmentEntry& segment = manifest.segments[i];
    all[i] = parts.take<CatalogueAttributes>("its segments' attributes");
    require_attributes_bytes(segment, all[i].bytes, parts.source());
    const bool updated = all[i].updates_bytes != 0;
    if (updated == (segment.update_count != 0) && (segment.attributed || all[i].checksum == 0)) {
      continue;
    }
    throw Error("{}: segment {} of the manifest has {} updated rows, and they have {} bytes",
                parts.source(), segment.number, segment.update_count, all[i].updates_bytes);
  }
  return all;
}

UpdatedTuples take_updates(Parts& parts, std::uint64_t bytes, const SegmentEntry& segment,
                           const Schema& schema) {
  if (bytes == 0) return {};
  const std::string name = fmt::format("{}: updates of segment {}", parts.source(), segment.number);
  return decode_updates(FileBytes(parts.take(bytes, "updated attributes"), name), segment, schema);
}

}  // namespace

void require_catalogue_header(std::span<const std::byte> begin, std::string_view source) {
  Parts parts(begin, source);
  (void)begin_header(parts);
}

std::vector<std::byte> encode_catalogue(const Catalogue& catalogue) {
  const auto& entries = catalogue.manifest.segments;
  FARVEC_CHECK(entries.size() == catalogue.segments.size());
  const std::string manifest = collection_to_json(catalogue.manifest);
  std::vector<std::byte> body;
  append(body, manifest.data(), manifest.size());
  body.resize(round_up(body.size(), kAlignment));
  std::vector<std::byte> blocks;
  CatalogueHeader header{.format_version = catalogue_version(catalogue.manifest),
                         .segments = static_cast<std::uint32_t>(entries.size()),
                         .manifest_bytes = manifest.size()};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const CatalogueSegment& segment = catalogue.segments[i];
    FARVEC_CHECK(segment.out.count() == entries[i].out_count);
    CatalogueEntry entry{segment.index_checksum, segment.ids_checksum, 0};
    entry.out_blocks = append_blocks(blocks, segment.out, entries[i].rows);
    header.blocks += entry.out_blocks;
    append(body, &entry, sizeof(entry));
  }
  const std::vector<std::byte> updates = append_attributes(body, catalogue);
  append(body, blocks.data(), blocks.size());
  append(body, updates.data(), updates.size());
  header.body_checksum = XXH3_64bits(body.data(), body.size());
  header.header_checksum = checksum_of(header);
  std::vector<std::byte> bytes;
  append(bytes, &header, sizeof(header));
  append(bytes, body.data(), body.size());
  return bytes;
}

Catalogue decode_catalogue(std::span<const std::byte> bytes, std::string_view source) {
  Parts parts(bytes, source);
  const CatalogueHeader header = take_header(parts);
  Catalogue catalogue;
  catalogue.manifest = take_manifest(parts, header);
  const auto& segments = catalogue.manifest.segments;
  const std::vector<CatalogueEntry> entries = take_entries(parts, header);
  const std::vector<CatalogueAttributes> attributes = take_attributes(parts, catalogue.manifest);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    catalogue.segments.push_back({.index_checksum = entries[i].index_checksum,
                                  .ids_checksum = entries[i].ids_checksum,
                                  .out = take_out(parts, entries[i].out_blocks, segments[i]),
                                  .attributes = {attributes[i].bytes, attributes[i].checksum}});
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    catalogue.segments[i].updates =
        take_updates(parts, attributes[i].updates_bytes, segments[i], catalogue.manifest.schema);
  }
  if (parts.rest().empty()) return catalogue;
  throw Error("{} has {} bytes after its last part", source, parts.rest().size());
}

}  // namespace farvec::layout
