// What layout_index_attributes_fuzz and the writer of its seeds agree on.
#pragma once

#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "layout/collection/index_attributes.h"
#include "layout/collection/segment_attributes.h"

namespace farvec::fuzz {

inline layout::Manifest attributed_manifest() {
  layout::Manifest manifest;
  manifest.count = 5;
  manifest.dataset.xxh3 = 77;
  return manifest;
}

/// A byte, the length of the schema's file (2 bytes), that file, and the file of attributes.
class IndexAttributesInput {
 public:
  /// In the first byte: the checksums are made right first.
  static constexpr std::uint8_t kSeal = 1;
  static constexpr std::size_t kHeadBytes = 3;

  explicit IndexAttributesInput(std::span<const std::byte> input) {
    if (input.size() < kHeadBytes) return;
    const std::size_t length = load_unaligned<std::uint16_t>(input.data() + 1);
    const auto files = input.subspan(kHeadBytes);
    const auto schema = files.first(std::min(length, files.size()));
    schema_.assign(schema.begin(), schema.end());
    attributes_.assign(files.begin() + static_cast<std::ptrdiff_t>(schema.size()), files.end());
    if ((std::to_integer<std::uint8_t>(input[0]) & kSeal) == 0) return;
    seal_attributes();
    seal_schema();
  }

  layout::IndexAttributesBytes bytes() const { return {schema_, attributes_}; }

 private:
  void seal_attributes() {
    using Header = layout::SegmentAttributesHeader;
    if (attributes_.size() < sizeof(Header)) return;
    auto header = load_unaligned<Header>(attributes_.data());
    const auto body = std::span(attributes_).subspan(sizeof(Header));
    const std::size_t ends =
        std::min(body.size(), attributed_manifest().count * sizeof(std::uint64_t));
    header.checksum = XXH3_64bits_withSeed(body.data() + ends, body.size() - ends,
                                           XXH3_64bits(body.data(), ends));
    header.header_checksum = XXH3_64bits(&header, offsetof(Header, header_checksum));
    header_checksum_ = header.header_checksum;
    store_unaligned(attributes_.data(), header);
  }
  void seal_schema() {
    using Header = layout::IndexSchemaHeader;
    if (schema_.size() < sizeof(Header)) return;
    auto header = load_unaligned<Header>(schema_.data());
    const auto text = std::span(schema_).subspan(sizeof(Header));
    header.attributes_header = header_checksum_;
    header.text_checksum = XXH3_64bits(text.data(), text.size());
    header.header_checksum = XXH3_64bits(&header, offsetof(Header, header_checksum));
    store_unaligned(schema_.data(), header);
  }

  std::vector<std::byte> schema_, attributes_;
  std::uint64_t header_checksum_ = 0;
};

}  // namespace farvec::fuzz
