// to_new_values() reads what rows that are there are given, from Python.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <optional>

#include "indexing/attributes/attribute_reader.h"
#include "layout/attributes/schema.h"

namespace farvec::python {

/// Takes what to_tuples() takes, with the columns that come and no others. In a mapping, a value
/// that is no column is that of all rows; where all are, one row comes of it. Without `rows` each
/// value of a mapping is one, and a list is a set. Throws what to_tuples() throws, and takes null
/// where the schema forbids it. Needs the interpreter.
indexing::ColumnsOfRows to_new_values(const layout::Schema& schema,
                                      const nanobind::object& attributes,
                                      const std::optional<std::size_t>& rows);

}  // namespace farvec::python
