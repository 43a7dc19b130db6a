// An Assignment is a column's new value as a user writes it on a command line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "indexing/attributes/attribute_reader.h"
#include "layout/attributes/schema.h"
#include "layout/attributes/tuple.h"

namespace farvec::indexing {

struct Assignment {
  std::size_t column = 0;
  layout::Value value;
};

/// Parses "price = 3": the name of a column, and a value as JSON has it, in which text may also be
/// in single quotes, as in conditions. So `'it''s'`, `"it's"`, `true`, `null`, `['a', 'b']` and
/// `'2024-05-01'` are values. Throws Error that says what is wrong: no `=`, another column, no
/// value, and what parse_attributes() throws.
Assignment parse_assignment(std::string_view text, const layout::Schema& schema);

/// Parses several, and returns the one row that they make. Throws Error that begins with the text
/// that is wrong, also where a column comes twice.
ColumnsOfRows parse_assignments(const std::vector<std::string>& texts,
                                const layout::Schema& schema);

}  // namespace farvec::indexing
