// What the fuzz targets of collections and the writers of their seeds agree on.
#pragma once

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/memory.h"
#include "layout/collection/catalogue.h"
#include "layout/collection/change_record.h"
#include "layout/collection/collection_manifest.h"
#include "layout/collection/segment_file.h"
#include "layout/collection/updates_file.h"

namespace farvec::fuzz {

/// layout_change_record_fuzz: this, and a record.
struct ChangeInput {
  std::uint8_t type = 0;       ///< modulo 4; see kAttributedChange
  std::uint8_t dimension = 0;  ///< of the collection
  std::uint8_t shift = 0;      ///< modulo 8: the record's address
};
static_assert(sizeof(ChangeInput) == 3);

inline constexpr std::uint8_t kAttributedChange = 4;  ///< in ChangeInput::type
inline layout::Schema change_schema() {
  return layout::parse_schema("price: i64, name: string not null, tags: set");
}

/// layout_segment_ids_fuzz and layout_out_file_fuzz: a byte, and the file. In that byte: the
/// checksums are made right first.
inline constexpr std::uint8_t kSealSegmentFile = 1;

/// Whose files they are.
inline constexpr layout::SegmentEntry kFuzzSegment{.number = 3,
                                                   .rows = 70,
                                                   .out_version = 9,
                                                   .out_count = 3,
                                                   .update_version = 8,
                                                   .update_count = 2,
                                                   .attributed = true};
inline constexpr std::array<NodeId, 2> kFuzzUpdated{5, 69};

/// The file that an input stands for.
inline std::vector<std::byte> segment_file_of(std::span<const std::byte> input) {
  std::vector<std::byte> file(input.begin() + 1, input.end());
  if ((std::to_integer<std::uint8_t>(input[0]) & kSealSegmentFile) == 0 ||
      file.size() < sizeof(layout::SegmentFileHeader)) {
    return file;
  }
  auto header = load_unaligned<layout::SegmentFileHeader>(file.data());
  header.words_checksum = XXH3_64bits(file.data() + sizeof(header), file.size() - sizeof(header));
  header.header_checksum =
      XXH3_64bits(&header, offsetof(layout::SegmentFileHeader, header_checksum));
  store_unaligned(file.data(), header);
  return file;
}

/// layout_updates_file_fuzz: as above, of a file of updates.
inline std::vector<std::byte> updates_file_of(std::span<const std::byte> input) {
  std::vector<std::byte> file(input.begin() + 1, input.end());
  if ((std::to_integer<std::uint8_t>(input[0]) & kSealSegmentFile) == 0 ||
      file.size() < sizeof(layout::UpdatesHeader)) {
    return file;
  }
  auto header = load_unaligned<layout::UpdatesHeader>(file.data());
  const auto body = std::span(file).subspan(sizeof(header));
  const std::size_t words = std::min(body.size(), 2 * kFuzzUpdated.size() * sizeof(std::uint64_t));
  header.checksum = XXH3_64bits_withSeed(body.data() + words, body.size() - words,
                                         XXH3_64bits(body.data(), words));
  header.header_checksum = XXH3_64bits(&header, offsetof(layout::UpdatesHeader, header_checksum));
  store_unaligned(file.data(), header);
  return file;
}

/// layout_catalogue_fuzz: as above, of a catalogue.
inline std::vector<std::byte> catalogue_of(std::span<const std::byte> input) {
  std::vector<std::byte> bytes(input.begin() + 1, input.end());
  if ((std::to_integer<std::uint8_t>(input[0]) & kSealSegmentFile) == 0 ||
      bytes.size() < sizeof(layout::CatalogueHeader)) {
    return bytes;
  }
  auto header = load_unaligned<layout::CatalogueHeader>(bytes.data());
  header.body_checksum = XXH3_64bits(bytes.data() + sizeof(header), bytes.size() - sizeof(header));
  header.header_checksum = XXH3_64bits(&header, offsetof(layout::CatalogueHeader, header_checksum));
  store_unaligned(bytes.data(), header);
  return bytes;
}

/// What lies behind the header of a file that was accepted.
inline std::vector<std::uint64_t> words_of(std::span<const std::byte> file) {
  const auto words = file.subspan(sizeof(layout::SegmentFileHeader));
  std::vector<std::uint64_t> values(words.size() / sizeof(std::uint64_t));
  std::memcpy(values.data(), words.data(), values.size() * sizeof(std::uint64_t));
  return values;
}

}  // namespace farvec::fuzz
