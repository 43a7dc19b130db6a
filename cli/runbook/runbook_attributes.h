// Declares the options that give the rows of a runbook's data attributes, and searches a condition.
#pragma once

#include <cstddef>
#include <string>

#include "attributes/condition.h"
#include "base/command_line.h"
#include "layout/attributes/schema.h"
#include "layout/attributes/tuple.h"

namespace farvec::cli {

struct RunbookAttributes {
  std::string schema;  ///< a new collection gets it; empty: rows have no attributes
  std::string file;    ///< has the attributes of each row of the data; empty: all are null
};

void add_attribute_options(Command& command, RunbookAttributes& attributes, std::string& filter);

/// Throws Error naming the option.
layout::Schema schema_of(const RunbookAttributes& attributes);

/// Returns a tuple for each of `rows` rows; none where the attributes of all are null. Throws Error
/// naming the option or the file.
layout::Tuples read_attributes(const RunbookAttributes& attributes, const layout::Schema& schema,
                               std::size_t rows);

/// Throws Error naming --filter: where no row of the data meets the condition, so that nothing
/// would be measured, and where the rows belong to tenants and it names none. `attributes` are
/// those of `rows` rows, or none; null: there is no condition.
void require_useful(const attributes::Condition* condition, const layout::Schema& schema,
                    const layout::TupleView& attributes, std::size_t rows);

}  // namespace farvec::cli
