// A CoverageMark says whose a collection is, in a file beside it, so that a copy is known. An
// engine of PostgreSQL keeps it (docs/decisions/063).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace farvec::layout {

/// The name of the file, in the folder that has the collection's folder too.
inline constexpr const char* kCoverageFile = "covered";

struct CoverageMark {
  std::string index;          ///< the name of the index, at most kMostIndexName bytes
  std::uint64_t inode = 0;    ///< that of the collection's folder
  std::uint64_t born_ns = 0;  ///< when that folder was made; 0: the file system does not say
  std::uint64_t covered = 0;  ///< what earlier versions wrote: rows of smaller ids were all there

  bool operator==(const CoverageMark&) const = default;
};
inline constexpr std::size_t kMostIndexName = 80;

/// Returns a mark of a collection's folder as it is on this file system, with nothing covered. A
/// copy of the folder has another one. Throws SystemError.
CoverageMark mark_of(const std::filesystem::path& collection, const std::string& index);

/// Reads the file. None where there is none. Throws Error naming it where it is damaged.
std::optional<CoverageMark> read_coverage(const std::filesystem::path& folder);

/// Replaces the file in one step, and returns when it outlives a loss of power. Throws SystemError.
void write_coverage(const std::filesystem::path& folder, const CoverageMark& mark);

}  // namespace farvec::layout
