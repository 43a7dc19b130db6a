#include "changes/column_values.h"

#include <span>

#include "base/error.h"
#include "base/status_error.h"

namespace farvec::changes {
namespace {

/// A part of a schema may be null everywhere.
void require_values(const ColumnValues& update, std::span<const std::size_t> columns,
                    const layout::Schema& schema) {
  for (std::size_t row = 0; row < update.values.count(); ++row) {
    const layout::Tuple tuple(update.values.row(row));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const layout::Column& column = schema[columns[i]];
      if (column.nullable || !tuple.is_null(i)) continue;
      throw Error("the new values of row {}: column '{}' is null, and may not be", row,
                  column.name);
    }
  }
}

std::vector<std::size_t> checked_columns(const ColumnValues& update, const layout::Schema& schema) {
  if (update.columns.empty()) throw Error("no column came: an update names those that change");
  std::vector<std::size_t> columns = schema.require(update.columns);
  layout::check_tuples(update.values, layout::select_columns(schema, columns), "the new values");
  require_values(update, columns, schema);
  return columns;
}

}  // namespace

std::vector<std::size_t> check_values(const ColumnValues& update, const layout::Schema& schema) {
  try {
    return checked_columns(update, schema);
  } catch (const StatusError&) {
    throw;
  } catch (const Error& error) {
    throw StatusError(StatusCode::invalid_argument, "{}", error.what());
  }
}

}  // namespace farvec::changes
