// The file of an index's place says on which tier an engine of PostgreSQL opens its collection. It
// lies beside the collection (docs/decisions/069).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace farvec::layout {

/// The name of the file, in the folder that has the collection's folder too.
inline constexpr const char* kPlaceFile = "place";

struct IndexPlace {
  std::string tier = "dram";     ///< at most kMostTierWord bytes
  std::uint64_t pool_bytes = 0;  ///< the index's own pool for slotted pages; 0: it shares one

  bool operator==(const IndexPlace&) const = default;
};
inline constexpr std::size_t kMostTierWord = 103;

/// Reads the file. A folder without one has the usual place. Throws Error naming the file where it
/// is damaged.
IndexPlace read_place(const std::filesystem::path& folder);

/// Replaces the file in one step, and returns when it outlives a loss of power. Throws SystemError.
void write_place(const std::filesystem::path& folder, const IndexPlace& place);

}  // namespace farvec::layout
