// Reads the attributes of rows from files: JSONL, CSV, and an .npy for each column.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "layout/attributes/schema.h"
#include "layout/attributes/tuple.h"

namespace farvec::indexing {

/// Reads the attributes of all rows, in the file's order. The file's name says what it is.
///
/// `.jsonl` and `.ndjson`: a JSON object in each line, as parse_attributes() reads it.
///
/// `.csv`: CsvRecords, whose first one names columns; a column that it does not name is null. An
/// empty field is null, but `""` is an empty string, no bytes, or a set without labels. Fields are
/// what value_of_text() takes: the labels of a set have `|` between them.
///
/// `COLUMN=FILE.npy,COLUMN=FILE.npy`: NpyColumns; a column that is not named is null.
///
/// Nothing is converted but where it stays exact. Throws Error with the file, the line or the row,
/// the column, what is there and what is wanted, for all that these refuse, for a name that ends
/// otherwise, for a record with more or fewer fields than the first one, and what Tuples::append()
/// throws.
layout::Tuples read_attributes(const std::string& path, const layout::Schema& schema);

/// Values of some columns, for each of several rows.
struct ColumnsOfRows {
  std::vector<std::string> names;
  layout::Tuples values;  ///< tuples of the columns of these names, in their order
};

/// Reads the same files, with the columns that a file has and no others: those that its first line
/// names, or its first object, or that are named beside files. Each object of a file has the same
/// columns. Throws what read_attributes() throws, but takes null where the schema forbids it.
ColumnsOfRows read_columns(const std::string& path, const layout::Schema& schema);

/// Throws Error, naming `source`, unless the attributes are those of `vectors` rows.
void require_rows(const layout::Tuples& attributes, std::uint64_t vectors,
                  const std::string& source);

}  // namespace farvec::indexing
