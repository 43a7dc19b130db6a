// object_value() turns an object of Python into the value of a column.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <optional>
#include <string>

#include "layout/attributes/schema.h"
#include "layout/attributes/tuple.h"

namespace farvec::python {

/// Takes None (null), bool, int, float, str, bytes, numpy's scalars of these, and lists, tuples,
/// sets and arrays of str. Throws what indexing::exact_value() throws, and Error for every other
/// object. Needs the interpreter.
layout::Value object_value(nanobind::handle object, const layout::Column& column);

/// Returns the value of a column of one row as an object: None for null, a list of str for a set,
/// bytes for bytes, microseconds for a timestamp.
nanobind::object value_object(const layout::Schema& schema, const layout::Tuple& tuple,
                              std::size_t column);

/// Returns a str, or nothing where the object is none or holds half a surrogate pair.
std::optional<std::string> text_of_object(nanobind::handle object);

}  // namespace farvec::python
