// The format of a collection's own bytes: its version, and what its files are called.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "layout/index/companion_file.h"

namespace farvec::layout {

/// One number for the manifest, the records of changes and the files beside the segments.
inline constexpr std::uint32_t kCollectionVersion = 1;

/// In the collection's folder.
inline constexpr const char* kCollectionFile = "collection.json";
inline constexpr const char* kCollectionLogFolder = "log";
inline constexpr const char* kCollectionSegmentsFolder = "segments";
/// In a segment's folder, beside the files of its index.
inline constexpr const char* kSegmentIdsFile = kSegmentIds.name;
/// Beside the manifest, where segments lie on memory nodes.
inline constexpr const char* kCatalogueFile = "catalogue.bin";

/// Names in the folder of segments: "000000000012", which is an index directory.
std::string segment_folder_name(std::uint64_t number);
/// "000000000012.out.345": the rows of segment 12 that are out, as of version 345.
std::string out_file_name(std::uint64_t number, std::uint64_t version);

/// What a name in the folder of segments stands for.
struct SegmentName {
  std::uint64_t number = 0;
  std::optional<std::uint64_t> out_version = {};  ///< none: the segment's folder
};
/// Nothing unless one of the two functions above makes this very name: whoever removes what no
/// manifest names leaves the files of others alone.
std::optional<SegmentName> parse_segment_name(std::string_view name);

/// Throws Error saying which version `source` has and what to do, unless it is this one.
void require_collection_version(std::uint64_t version, std::string_view source);

}  // namespace farvec::layout
