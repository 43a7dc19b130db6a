#include "python/new_values.h"

#include <string>
#include <utility>
#include <vector>

#include "indexing/attributes/exact_value.h"
#include "python/arrow_columns.h"
#include "python/attributes.h"
#include "python/errors.h"
#include "python/object_value.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;

/// Returns the numbers of the columns that a mapping has.
std::vector<std::size_t> named_columns(const layout::Schema& schema, const nb::object& columns) {
  std::vector<std::size_t> numbers;
  for (const nb::handle name : nb::iter(columns)) {
    const auto word = text_of_object(name);
    if (!word) throw_invalid("attributes: the name of a column is no str");
    numbers.push_back(
        parsed("attributes", [&] { return indexing::require_column(schema, *word); }));
  }
  return numbers;
}

}  // namespace

indexing::ColumnsOfRows to_new_values(const layout::Schema& schema, const nb::object& attributes,
                                      const std::optional<std::size_t>& rows) {
  if (rows && nb::hasattr(attributes, "__arrow_c_stream__")) {
    return arrow_columns_of_rows(schema, attributes, *rows);
  }
  nb::list known;
  for (const layout::Column& column : schema.columns()) known.append(nb::str(column.name.c_str()));
  const nb::object count = rows ? nb::object(nb::int_(*rows)) : nb::none();
  const nb::object made =
      nb::module_::import_("farvec._attributes").attr("new_values")(attributes, known, count);
  const nb::object columns = made[0];
  const std::vector<std::size_t> numbers = named_columns(schema, columns);
  indexing::ColumnsOfRows read;
  for (const std::size_t column : numbers) read.names.push_back(schema[column].name);
  const layout::Schema part =
      parsed("attributes", [&] { return layout::select_columns(schema, numbers); });
  read.values = to_tuples(part, columns, nb::cast<std::size_t>(made[1]));
  return read;
}

}  // namespace farvec::python
