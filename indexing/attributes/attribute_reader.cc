#include "indexing/attributes/attribute_reader.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "indexing/attributes/attributes_json.h"
#include "indexing/attributes/csv_records.h"
#include "indexing/attributes/exact_value.h"
#include "indexing/attributes/line_reader.h"

namespace farvec::indexing {
namespace {

using layout::Column;
using layout::ColumnType;
using layout::Schema;
using layout::Tuples;
using layout::Value;

/// Runs what reads one row, and gives its errors the place.
template <typename Place, typename Read>
void at_place(const Place& place, const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    throw Error("{}: {}", place(), error.what());
  }
}

void append_line(std::string_view line, const Schema& schema, Tuples& tuples) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
    throw Error("the line is empty: each line has the object of one row, at least {{}}");
  }
  tuples.append(schema, parse_attributes(line, schema));
}

Tuples read_jsonl(const std::string& path, const Schema& schema) {
  Tuples tuples;
  LineReader lines(path);
  for (std::string_view line; lines.next(line);) {
    at_place([&] { return place_of(path, lines.number()); },
             [&] { append_line(line, schema, tuples); });
  }
  return tuples;
}

/// Returns which column of the schema each field is.
std::vector<std::size_t> columns_of(const std::vector<CsvField>& names, const Schema& schema) {
  std::vector<std::size_t> columns;
  for (const CsvField& name : names) {
    const std::size_t column = require_column(schema, name.text);
    if (std::find(columns.begin(), columns.end(), column) != columns.end()) {
      throw Error("column '{}' is there twice", name.text);
    }
    columns.push_back(column);
  }
  return columns;
}

Value value_of_field(const CsvField& field, const Column& column) {
  const bool may_be_empty = field.quoted && !is_scalar(column.type);
  if (field.text.empty() && !may_be_empty) return {};
  return value_of_text(field.text, column);
}

void append_record(const std::vector<CsvField>& fields, const std::vector<std::size_t>& columns,
                   const Schema& schema, Tuples& tuples) {
  if (fields.size() != columns.size()) {
    throw Error("the record has {} fields, and the first line names {} columns", fields.size(),
                columns.size());
  }
  std::vector<Value> values(schema.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    values[columns[i]] = value_of_field(fields[i], schema[columns[i]]);
  }
  tuples.append(schema, values);
}

Tuples read_csv(const std::string& path, const Schema& schema) {
  Tuples tuples;
  CsvRecords records(path);
  std::vector<CsvField> fields;
  std::vector<std::size_t> columns;
  const auto place = [&] { return records.place(); };
  if (!records.next(fields)) {
    throw Error("'{}' is empty: its first line names the columns, as in 'price,section'", path);
  }
  at_place(place, [&] { columns = columns_of(fields, schema); });
  while (records.next(fields)) {
    at_place(place, [&] { append_record(fields, columns, schema, tuples); });
  }
  return tuples;
}

}  // namespace

Tuples read_attributes(const std::string& path, const Schema& schema) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".jsonl" || extension == ".ndjson") return read_jsonl(path, schema);
  if (extension == ".csv") return read_csv(path, schema);
  throw Error(
      "'{}' cannot be read as attributes: its name says what it is, with .jsonl or .ndjson (a JSON "
      "object in each line) or .csv (names of columns in the first line)",
      path);
}

void require_rows(const Tuples& attributes, std::uint64_t vectors, const std::string& source) {
  if (attributes.count() == vectors) return;
  throw Error("{} has the attributes of {} rows for {} vectors: it needs one of each, in order",
              source, attributes.count(), vectors);
}

}  // namespace farvec::indexing
