// ListedRows are rows that were asked for by a condition, in the order of their ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "layout/attributes/tuple.h"

namespace farvec::changes {

/// Says which rows are asked for, and what of them.
struct Listing {
  /// The text of a condition (attributes/condition.h); empty: every row meets it.
  std::string filter = {};
  std::uint64_t from = 0;   ///< the least id that is listed
  std::size_t most = 0;     ///< how many rows are listed; 0: they are only counted
  bool attributes = false;  ///< with their attributes
};

/// All of it is of one moment.
struct ListedRows {
  std::uint64_t version = 0;            ///< number of the last change that is in it
  std::uint64_t matches = 0;            ///< all rows that meet the condition, whatever their ids
  std::vector<std::uint64_t> ids = {};  ///< ascending
  /// The attributes of those that are listed; none where they were not asked for.
  layout::Tuples attributes = {};
  /// Whether rows with greater ids meet the condition too: ask again from the last id + 1.
  bool more = false;
};

}  // namespace farvec::changes
