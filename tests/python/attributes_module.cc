// This module lets tests of the Python package hand schemas and attributes to python/attributes.h
// as such. It is not installed.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <string>

#include "indexing/attributes/attributes_json.h"
#include "python/attributes.h"
#include "python/errors.h"

namespace {

namespace nb = nanobind;
using namespace farvec;

/// Returns the columns of what a call was given.
nb::dict round_trip(const nb::object& schema, const nb::object& attributes, std::size_t rows) {
  const layout::Schema columns = python::to_schema(schema);
  const layout::Tuples tuples = python::to_tuples(columns, attributes, rows);
  for (std::size_t row = 0; row < tuples.count(); ++row) {
    layout::check_tuple(tuples.view().row(row), columns, "the tuple");
  }
  return python::to_columns(columns, tuples.view());
}

}  // namespace

NB_MODULE(attributes_module, module) {
  python::register_errors();
  module.def(
      "schema_text",
      [](const nb::object& schema) { return layout::to_string(python::to_schema(schema)); },
      nb::arg("schema").none());
  module.def("round_trip", &round_trip, nb::arg("schema").none(), nb::arg("attributes").none(),
             nb::arg("rows"));
}
