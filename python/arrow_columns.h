// Attributes come from Arrow streams: those of pyarrow, polars, pandas, duckdb, and of whatever
// else has `__arrow_c_stream__`.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <vector>

#include "indexing/attributes/attribute_reader.h"
#include "layout/attributes/schema.h"
#include "layout/attributes/tuple.h"

namespace farvec::python {

/// Reads the batches of `stream.__arrow_c_stream__()`, whose columns are found by name. Takes
/// integers, floats, bool, utf8, large_utf8 and string_view, binary in the same three forms, lists
/// and large lists of strings, timestamps of any unit and dates, dictionaries of these, and columns
/// of nulls. A timestamp with a zone is a moment, and one without is UTC. Throws StatusError
/// (invalid_argument), naming the column, for other types, for arrays whose lengths and offsets
/// cannot be, for another count of rows, and for what append_rows() refuses.
layout::Tuples arrow_tuples(const layout::Schema& schema, const nanobind::object& stream,
                            std::size_t rows);

/// Reads the same, with the columns that the stream has and no others. Takes null where the schema
/// forbids it.
indexing::ColumnsOfRows arrow_columns_of_rows(const layout::Schema& schema,
                                              const nanobind::object& stream, std::size_t rows);

/// Says whether an object is a column of Arrow's: an array or a series.
bool is_arrow_column(nanobind::handle object);

/// Reads the values of a column by `__arrow_c_stream__()` or `__arrow_c_array__()`, of the same
/// types. Throws what arrow_tuples() throws.
std::vector<layout::Value> arrow_column(const layout::Column& column,
                                        const nanobind::object& values);

}  // namespace farvec::python
