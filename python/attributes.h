// These functions pass schemas and the attributes of rows between Python and us. All need the
// interpreter.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "layout/attributes/schema.h"
#include "layout/attributes/tuple.h"

namespace farvec::python {

/// Returns the numbers of the columns that a search selects. Throws StatusError (invalid_argument)
/// naming the argument, for a column that is not there or comes twice.
std::vector<std::size_t> selected_columns(const layout::Schema& schema,
                                          const std::vector<std::string>& names);

/// Returns the value of one column in one row of those that are there.
using ReadValue = std::function<layout::Value(std::size_t row)>;

/// Takes {"price": "i64", "section": "string not null"}, or the text "price: i64, section: string";
/// None is a schema without columns. Throws StatusError (invalid_argument) naming the argument, the
/// column, and what is wrong.
layout::Schema to_schema(const nanobind::object& schema);

/// Takes the attributes of `rows` rows: a mapping from names to columns (arrays of numpy, lists,
/// series and arrays of Arrow's, what has `__array__`), a list with a mapping for each row, or what
/// has `__arrow_c_stream__`. Columns that are missing are null; so are None, NaT, and what a mask
/// hides. None in place of all gives rows that are null. Nothing is cast. Throws StatusError
/// (invalid_argument) naming the row and the column: an unknown name, another length, a value that
/// is not exactly of the column's type, and what layout::append_tuple() refuses.
layout::Tuples to_tuples(const layout::Schema& schema, const nanobind::object& attributes,
                         std::size_t rows);

/// Returns a dictionary of the columns with these numbers: lists with None for null, and numpy
/// arrays of datetime64[us] with NaT for null.
nanobind::dict to_columns(const layout::Schema& schema, const layout::TupleView& tuples,
                          std::span<const std::size_t> columns);
/// Does the same for all columns.
nanobind::dict to_columns(const layout::Schema& schema, const layout::TupleView& tuples);

/// Appends the tuples of `rows` rows, each value read by the reader of its column; a column without
/// one is null. `first` is the number of the first row in messages.
void append_rows(const layout::Schema& schema, std::span<const ReadValue> readers, std::size_t rows,
                 std::size_t first, layout::Tuples& tuples);

}  // namespace farvec::python
