// What the literals of conditions mean for a column: numbers are compared as in mathematics,
// whatever the column can hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "attributes/key_ranges.h"
#include "layout/attributes/schema.h"

namespace farvec::attributes {

/// A Cut is where a literal stands among the values of a column.
struct Cut {
  std::optional<std::uint64_t> at;  ///< the least key that is not below it; nothing: all are below
  bool exact = false;               ///< whether the value of `at` is the literal's
};

inline constexpr std::size_t kMostNumberBytes = 1000;

/// Returns where a number stands: digits with or without a sign, a point and an exponent, or inf.
/// Columns of f64 take a number with a point or an exponent for the nearest number that they can
/// hold, and integers as they are.
Cut cut_of_number(std::string_view number, layout::ColumnType type);

enum class Comparison : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

/// Returns the keys of a column of `type` for which the comparison with the literal is true.
KeyRanges keys_where(Comparison comparison, const Cut& literal, layout::ColumnType type);

}  // namespace farvec::attributes
