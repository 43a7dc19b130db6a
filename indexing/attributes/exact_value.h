// An exact_value() is a value of a column that says what the caller's value says, and nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "layout/attributes/schema.h"
#include "layout/attributes/tuple.h"

namespace farvec::indexing {

// Each of these throws Error that names the column, its type, and the value, where the column's
// type cannot hold the value as it is. A bool is no number, a fraction is no integer even where it
// is whole, and a number is no timestamp, whose unit it does not say.

layout::Value exact_value(bool value, const layout::Column& column);
layout::Value exact_value(std::uint64_t value, const layout::Column& column);
layout::Value exact_value(std::int64_t value, const layout::Column& column);
layout::Value exact_value(double value, const layout::Column& column);
/// Gives text to columns of strings, bytes and timestamps.
layout::Value exact_value(std::string text, const layout::Column& column);

/// Gives a moment, in microseconds since 1970 in UTC, to a column of timestamps. Throws Error for a
/// year before 1 or after 9999 too.
layout::Value exact_time(std::int64_t microseconds, const layout::Column& column);

/// Reads a value from text alone, as in CSV: numbers, `true` and `false` in any case, timestamps,
/// and labels that `|` separates. No label has that sign, and empty text is a set without labels.
layout::Value value_of_text(std::string_view text, const layout::Column& column);

/// Returns the number of a column whose name a caller gives. Throws Error that says which there
/// are.
std::size_t require_column(const layout::Schema& schema, std::string_view name);

/// Throws Error: "column 'price' is i64, and the value is 1.5".
[[noreturn]] void refuse_value(const layout::Column& column, std::string_view shown);
/// Does the same for an integer that has more digits than the column's type holds.
[[noreturn]] void refuse_long_integer(const layout::Column& column, std::string_view digits);

/// Returns text in quotes for a message: what cannot be shown is escaped, and what is long is cut.
std::string shown_text(std::string_view text);

}  // namespace farvec::indexing
