// ColumnValues are what an update gives rows that are there: new values for some of their columns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "layout/attributes/tuple.h"

namespace farvec::changes {

/// It borrows the values. Nothing in it has been checked.
struct ColumnValues {
  std::vector<std::string> columns;  ///< names, in any order
  /// Tuples of these columns, in the order of their names: one for each row, or a single one that
  /// all rows get.
  layout::TupleView values;
};

/// Returns the numbers of the columns. Throws StatusError (invalid_argument) unless each is a
/// column of the schema, none comes twice, at least one comes, each tuple is one of these columns,
/// and is null only where the schema allows it. The message names the first row that is wrong.
std::vector<std::size_t> check_values(const ColumnValues& update, const layout::Schema& schema);

}  // namespace farvec::changes
