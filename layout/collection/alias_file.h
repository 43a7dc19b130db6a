// The file of aliases says which rows of an index of PostgreSQL share the vector of another row
// (docs/decisions/066), and the values of columns that rows have for themselves
// (docs/decisions/073). It lies beside the index's collection, which has that vector once.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "layout/attributes/tuple.h"

namespace farvec::layout {

/// The name of the file, in the folder that has the collection's folder too.
inline constexpr const char* kAliasFile = "aliases";

struct Alias {
  std::uint64_t id = 0;
  std::uint64_t host = 0;  ///< the row of the collection that has its vector; a smaller number

  auto operator<=>(const Alias&) const = default;
};

/// Rows with their tuples, in any order, no id twice.
struct OwnTuples {
  std::vector<std::uint64_t> ids;
  Tuples tuples;  ///< one for each id

  bool operator==(const OwnTuples& other) const {
    return ids == other.ids && tuples.ends == other.tuples.ends &&
           tuples.bytes == other.tuples.bytes;
  }
};

struct AliasList {
  std::vector<Alias> aliases;       ///< in any order, no id twice
  std::vector<std::uint64_t> gone;  ///< rows of the collection that are there for others alone
  OwnTuples own = {};               ///< those that aliases have whose hosts may have other values

  bool operator==(const AliasList&) const = default;
};

/// Reads the file of an index with this name. Throws Error naming it where it is not there, is
/// damaged, is another index's or an older farvec's, or says what cannot be. It does not know the
/// columns: check_tuples() says whether the tuples are sound.
AliasList read_aliases(const std::filesystem::path& folder, const std::string& index);

/// Replaces the file in one step, and returns when it outlives a loss of power. The name has at
/// most kMostIndexName bytes. Throws SystemError.
void write_aliases(const std::filesystem::path& folder, const std::string& index,
                   const AliasList& list);

}  // namespace farvec::layout
