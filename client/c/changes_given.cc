#include "client/c/changes_given.h"

#include <cstddef>
#include <vector>

#include "base/status_error.h"
#include "changes/column_values.h"
#include "indexing/attributes/attributes_json.h"

namespace farvec::c {
namespace {

/// Calls `use` with the number and the text of each row. What it throws names the row.
template <typename Use>
void for_each_row(const GivenAttributes& rows, const Use& use) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    try {
      use(row, rows[row]);
    } catch (const Error& error) {
      throw StatusError(StatusCode::invalid_argument, "attributes: row {}: {}", row, error.what());
    }
  }
}

/// Returns what `use` makes of the columns that are known, or of all that there are by now where it
/// throws: another client may have added some.
template <typename Use>
auto with_schema(const changes::Changing& changes, const Use& use) {
  const layout::Schema known = changes.row_shape().schema;
  try {
    return use(known);
  } catch (const Error&) {
    const layout::Schema newest = changes.newest_schema();
    if (newest == known) throw;
    return use(newest);
  }
}

layout::Tuples tuples_of_schema(const layout::Schema& schema, const GivenAttributes& rows) {
  const std::vector<layout::Value> nulls(schema.size());
  layout::Tuples tuples;
  for_each_row(rows, [&](std::size_t, const std::optional<std::string>& json) {
    tuples.append(schema, json ? indexing::parse_attributes(*json, schema) : nulls);
  });
  return tuples;
}

indexing::ColumnsOfRows values_of_schema(const layout::Schema& schema,
                                         const GivenAttributes& rows) {
  indexing::ColumnsOfRows made;
  std::vector<bool> named;
  std::vector<std::size_t> columns;
  for_each_row(rows, [&](std::size_t row, const std::optional<std::string>& json) {
    if (!json) throw Error("it is a null pointer, where an object names the new values");
    const indexing::NamedAttributes given = indexing::parse_named_attributes(*json, schema);
    if (row == 0) {
      named = given.named;
      for (std::size_t i = 0; i < named.size(); ++i) {
        if (named[i]) columns.push_back(i);
      }
    }
    if (given.named != named) throw Error("it names other columns than row 0");
    std::vector<layout::Value> values;
    for (const std::size_t column : columns) values.push_back(given.values[column]);
    made.values.append(layout::select_columns(schema, columns), values);
  });
  for (const std::size_t column : columns) made.names.push_back(schema[column].name);
  (void)changes::check_values({made.names, made.values.view()}, schema);
  return made;
}

}  // namespace

layout::Tuples tuples_of(const changes::Changing& changes, const GivenAttributes& rows) {
  if (rows.empty()) return {};
  return with_schema(changes,
                     [&](const layout::Schema& schema) { return tuples_of_schema(schema, rows); });
}

indexing::ColumnsOfRows new_values_of(const changes::Changing& changes,
                                      const GivenAttributes& rows) {
  return with_schema(changes,
                     [&](const layout::Schema& schema) { return values_of_schema(schema, rows); });
}

}  // namespace farvec::c
