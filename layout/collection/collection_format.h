// Defines the format of a collection's own bytes: its version, and the names of its files.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "layout/index/companion_file.h"

namespace farvec::layout {

/// One number for the manifest, the records of changes and the files beside the segments.
inline constexpr std::uint32_t kCollectionVersion = 1;
/// That of the manifest alone where segments have fewer bits than the rows: farvecs that do not
/// know it refuse it by this number.
inline constexpr std::uint32_t kReducedCollectionVersion = 2;

/// The manifest in the collection's folder.
inline constexpr const char* kCollectionFile = "collection.json";
inline constexpr const char* kCollectionLogFolder = "log";
inline constexpr const char* kCollectionSegmentsFolder = "segments";
/// A file in a segment's folder, beside the files of its index.
inline constexpr const char* kSegmentIdsFile = kSegmentIds.name;
/// A file beside the manifest, where segments are on memory nodes.
inline constexpr const char* kCatalogueFile = "catalogue.bin";

/// Returns the name of a segment's folder, which is an index directory: "000000000012".
std::string segment_folder_name(std::uint64_t number);
/// Returns the name of the file of the rows of segment 12 that are out, at version 345:
/// "000000000012.out.345".
std::string out_file_name(std::uint64_t number, std::uint64_t version);
/// Returns the name of the file of its rows that were updated: "000000000012.updates.345".
std::string updates_file_name(std::uint64_t number, std::uint64_t version);

/// A SegmentName is the meaning of a name in the folder of segments.
struct SegmentName {
  std::uint64_t number = 0;
  // Without a version it names the segment's folder. It has one at most.
  std::optional<std::uint64_t> out_version = {};
  std::optional<std::uint64_t> update_version = {};

  std::string text() const;
  auto operator<=>(const SegmentName&) const = default;
};
/// Parses a name that one of the three functions above makes, and returns nothing for any other
/// name: code that removes what no manifest names must leave the files of others alone.
std::optional<SegmentName> parse_segment_name(std::string_view name);

/// Throws Error saying which version `source` has and what to do, unless it is kCollectionVersion,
/// or a later one up to `newest`.
void require_collection_version(std::uint64_t version, std::string_view source,
                                std::uint32_t newest = kCollectionVersion);

}  // namespace farvec::layout
