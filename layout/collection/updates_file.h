// Reads and writes the file of a segment's rows whose attributes were updated since the segment was
// made: their numbers, and the tuple of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "layout/attributes/updated_tuples.h"
#include "layout/collection/collection_manifest.h"
#include "layout/collection/tuple_file.h"
#include "layout/index/companion_file.h"

namespace farvec::layout {

/// Begins the file, little-endian; see docs/format.md. 8 bytes for each row that was updated are
/// its number, 8 bytes for each say where its tuple ends, and the tuples follow.
struct UpdatesHeader {
  static constexpr std::uint64_t kMagic = 0x4450555356524146;  // "FARVSUPD"

  std::uint64_t magic = kMagic;
  std::uint32_t format_version = kCollectionVersion;
  std::uint32_t reserved = 0;
  std::uint64_t segment = 0;   ///< its number
  std::uint64_t version = 0;   ///< the manifest's update_version
  std::uint64_t count = 0;     ///< rows that were updated
  std::uint64_t bytes = 0;     ///< bytes of the tuples
  std::uint64_t checksum = 0;  ///< XXH3-64 of the tuples, seeded with that of the numbers and ends
  std::uint64_t header_checksum = 0;  ///< XXH3-64 of the 56 bytes before it
};
static_assert(sizeof(UpdatesHeader) == 64);
static_assert(offsetof(UpdatesHeader, header_checksum) == 56);

/// `updates` has the update_count rows of `segment` that were updated at update_version. A file of
/// that name is replaced in one step. Throws SystemError like OutputFile.
void write_updates(const std::filesystem::path& path, const SegmentEntry& segment,
                   const UpdatedTuples& updates);

/// Throws Error with the file and what is wrong: it is missing, truncated, damaged, of another
/// format, version, segment or state of the collection, or has another count of rows, a row after
/// the segment's last, a row twice, or a tuple that does not fit the schema.
UpdatedTuples read_updates(const std::filesystem::path& path, const SegmentEntry& segment,
                           const Schema& schema);

/// The bytes of the file, for a catalogue that has them too. Their functions are otherwise those
/// above.
std::vector<std::byte> encode_updates(const SegmentEntry& segment, const UpdatedTuples& updates);
UpdatedTuples decode_updates(const FileBytes& bytes, const SegmentEntry& segment,
                             const Schema& schema);

}  // namespace farvec::layout
