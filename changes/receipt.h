// A Receipt says what a change did; FoundRows holds the rows that were read by their ids.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "layout/attributes/tuple.h"

namespace farvec::changes {

/// A read ends when it has attributes of this size, so that its answer fits a message.
inline constexpr std::size_t kMostReadAttributes = std::size_t{16} << 20;

/// Says what one change did, or several.
struct Receipt {
  std::uint64_t version = 0;   ///< number of the last change
  std::uint64_t done = 0;      ///< rows inserted, or ids that were there and are erased or updated
  std::uint64_t replaced = 0;  ///< rows inserted whose ids were there
  std::uint64_t missing = 0;   ///< ids to erase or to update that were not there

  Receipt& operator+=(const Receipt& part) {
    version = std::max(version, part.version);
    done += part.done;
    replaced += part.replaced;
    missing += part.missing;
    return *this;
  }
};

/// Holds rows that were asked for by their ids.
struct FoundRows {
  std::uint64_t version = 0;         ///< number of the last change that is in them
  std::vector<bool> found = {};      ///< for every id that was looked up
  std::vector<std::byte> rows = {};  ///< those that were found, packed, in stored form
  /// The attributes of those that were found; none where the index has no schema.
  layout::Tuples attributes = {};
};

}  // namespace farvec::changes
