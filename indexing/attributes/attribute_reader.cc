#include "indexing/attributes/attribute_reader.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "indexing/attributes/attributes_json.h"
#include "indexing/attributes/csv_records.h"
#include "indexing/attributes/exact_value.h"
#include "indexing/attributes/line_reader.h"
#include "indexing/attributes/npy_columns.h"

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

void require_object(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
    throw Error("the line is empty: each line has the object of one row, at least {{}}");
  }
}

void append_line(std::string_view line, const Schema& schema, Tuples& tuples) {
  require_object(line);
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

std::vector<std::size_t> columns_of(const std::vector<bool>& named) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (named[i]) columns.push_back(i);
  }
  return columns;
}

/// Reads the columns that the first object has.
Tuples read_jsonl_columns(const std::string& path, const Schema& schema,
                          std::vector<std::size_t>& columns) {
  Tuples tuples;
  Schema part;
  std::vector<Value> values;
  LineReader lines(path);
  const auto append = [&](std::string_view line) {
    require_object(line);
    NamedAttributes row = parse_named_attributes(line, schema);
    const std::vector<std::size_t> named = columns_of(row.named);
    if (tuples.count() == 0) {
      columns = named;
      part = layout::select_columns(schema, columns);
    }
    if (named != columns) {
      throw Error("the line has other columns than the first one: null stands for no value");
    }
    values.clear();
    for (const std::size_t column : columns) values.push_back(std::move(row.values[column]));
    tuples.append(part, values);
  };
  for (std::string_view line; lines.next(line);) {
    at_place([&] { return place_of(path, lines.number()); }, [&] { append(line); });
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

/// Says where the values of a file's fields go.
struct Fields {
  std::vector<std::size_t> columns;  ///< which column of the file's schema each is
  std::vector<std::size_t> places;   ///< which column of a tuple each is
  Schema tuple;                      ///< the schema of the tuples
};

void append_record(const std::vector<CsvField>& record, const Fields& fields, const Schema& schema,
                   Tuples& tuples) {
  if (record.size() != fields.columns.size()) {
    throw Error("the record has {} fields, and the first line names {} columns", record.size(),
                fields.columns.size());
  }
  std::vector<Value> values(fields.tuple.size());
  for (std::size_t i = 0; i < record.size(); ++i) {
    values[fields.places[i]] = value_of_field(record[i], schema[fields.columns[i]]);
  }
  tuples.append(fields.tuple, values);
}

/// `place_fields` says where the values go, of the columns that the file names.
template <typename Place>
Tuples read_csv(const std::string& path, const Schema& schema, const Place& place_fields) {
  Tuples tuples;
  CsvRecords records(path);
  std::vector<CsvField> record;
  Fields fields;
  const auto place = [&] { return records.place(); };
  if (!records.next(record)) {
    throw Error("'{}' is empty: its first line names the columns, as in 'price,section'", path);
  }
  at_place(place, [&] { fields = place_fields(columns_of(record, schema)); });
  while (records.next(record)) {
    at_place(place, [&] { append_record(record, fields, schema, tuples); });
  }
  return tuples;
}

/// Does the same for files that each have a column.
template <typename Place>
Tuples read_npy(const std::string& files, const Schema& schema, const Place& place_fields) {
  Tuples tuples;
  NpyColumns rows(files, schema);
  const Fields fields = place_fields(rows.columns());
  std::vector<Value> read(fields.columns.size());
  std::vector<Value> values(fields.tuple.size());
  while (rows.next(read)) {
    for (std::size_t i = 0; i < read.size(); ++i) values[fields.places[i]] = std::move(read[i]);
    at_place([&] { return rows.place(); }, [&] { tuples.append(fields.tuple, values); });
  }
  return tuples;
}

enum class FileKind { jsonl, csv, npy };

FileKind kind_of(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".jsonl" || extension == ".ndjson") return FileKind::jsonl;
  if (extension == ".csv") return FileKind::csv;
  if (names_npy_columns(path)) return FileKind::npy;
  throw Error(
      "'{}' cannot be read as attributes: its name says what it is, with .jsonl or .ndjson (a JSON "
      "object in each line) or .csv (names of columns in the first line), or there is a file for "
      "each column, as in 'price=price.npy,year=year.npy'",
      path);
}

template <typename Place>
Tuples read_table(const std::string& path, const Schema& schema, const Place& place_fields) {
  if (kind_of(path) == FileKind::npy) return read_npy(path, schema, place_fields);
  return read_csv(path, schema, place_fields);
}

}  // namespace

Tuples read_attributes(const std::string& path, const Schema& schema) {
  if (kind_of(path) == FileKind::jsonl) return read_jsonl(path, schema);
  return read_table(path, schema, [&](const std::vector<std::size_t>& columns) {
    return Fields{columns, columns, schema};
  });
}

ColumnsOfRows read_columns(const std::string& path, const Schema& schema) {
  ColumnsOfRows read;
  std::vector<std::size_t> columns;
  if (kind_of(path) == FileKind::jsonl) {
    read.values = read_jsonl_columns(path, schema, columns);
  } else {
    read.values = read_table(path, schema, [&](const std::vector<std::size_t>& named) {
      columns = named;
      std::vector<std::size_t> places(columns.size());
      std::iota(places.begin(), places.end(), 0);
      return Fields{columns, places, layout::select_columns(schema, columns)};
    });
  }
  for (const std::size_t column : columns) read.names.push_back(schema[column].name);
  return read;
}

void require_rows(const Tuples& attributes, std::uint64_t vectors, const std::string& source) {
  if (attributes.count() == vectors) return;
  throw Error("{} has the attributes of {} rows for {} vectors: it needs one of each, in order",
              source, attributes.count(), vectors);
}

}  // namespace farvec::indexing
