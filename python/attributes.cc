#include "python/attributes.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/timestamp.h"
#include "indexing/attributes/exact_value.h"
#include "python/arrays.h"
#include "python/arrow_columns.h"
#include "python/errors.h"
#include "python/object_value.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;
using indexing::exact_value;
using layout::Column;
using layout::ColumnType;
using layout::Schema;
using layout::Tuples;
using layout::Value;

template <typename T>
using Packed = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Column column_of(nb::handle name, nb::handle type) {
  const auto word = text_of_object(name);
  if (!word) throw_invalid("schema: the name of a column is no str");
  const auto text = text_of_object(type);
  if (!text) throw_invalid("schema: the type of column '{}' is no str, as 'i64'", *word);
  return parsed("schema: column " + indexing::shown_text(*word), [&] {
    // The type is parsed under a name that is one, so that a name cannot stand for more columns.
    const Schema one = layout::parse_schema("c: " + *text);
    if (one.size() != 1) throw Error("{} is more than one type", indexing::shown_text(*text));
    return Column{*word, one[0].type, one[0].nullable, one[0].tenant};
  });
}

/// A column as farvec/_attributes.py makes it plain.
struct PlainColumn {
  char kind = 'O';  ///< is numpy's letter: u, i, f, b, M (microseconds), or O for a list
  nb::object values;
  std::optional<Packed<bool>> nulls;

  bool is_null(std::size_t row) const { return nulls && nulls->data()[row]; }
};

PlainColumn plain_column(nb::handle values, const Column& column) {
  const nb::object made = nb::module_::import_("farvec._attributes")
                              .attr("column")(values, nb::str(column.name.c_str()),
                                              column.type == ColumnType::timestamp);
  PlainColumn plain{nb::cast<std::string>(made[0]).at(0), made[1], std::nullopt};
  if (!made[2].is_none()) plain.nulls = nb::cast<Packed<bool>>(made[2]);
  return plain;
}

/// Reads a packed array, with `convert` from its numbers.
template <typename T, typename Convert>
ReadValue array_reader(PlainColumn plain, const Convert& convert) {
  auto array = nb::cast<Packed<T>>(plain.values);
  return [plain = std::move(plain), array = std::move(array), convert](std::size_t row) {
    return plain.is_null(row) ? Value() : convert(array.data()[row]);
  };
}

ReadValue list_reader(PlainColumn plain, const Column& column) {
  auto list = nb::cast<nb::list>(plain.values);
  return [plain = std::move(plain), list = std::move(list), &column](std::size_t row) {
    return plain.is_null(row) ? Value() : object_value(list[row], column);
  };
}

ReadValue reader_of(PlainColumn plain, const Column& column) {
  const auto exact = [&column](auto value) { return exact_value(value, column); };
  switch (plain.kind) {
    case 'u':
      return array_reader<std::uint64_t>(std::move(plain), exact);
    case 'i':
      return array_reader<std::int64_t>(std::move(plain), exact);
    case 'f':
      return array_reader<double>(std::move(plain), exact);
    case 'b':
      return array_reader<bool>(std::move(plain), exact);
    case 'M':
      return array_reader<std::int64_t>(std::move(plain), [&column](std::int64_t time) {
        return indexing::exact_time(time, column);
      });
    default:
      return list_reader(std::move(plain), column);
  }
}

void require_length(const Column& column, std::size_t values, std::size_t rows) {
  if (values == rows) return;
  throw_invalid("attributes: column '{}' has {} values for {} rows", column.name, values, rows);
}

ReadValue reader_for(const nb::object& values, const Column& column, std::size_t rows) {
  if (is_arrow_column(values)) {
    const auto read = std::make_shared<const std::vector<Value>>(arrow_column(column, values));
    require_length(column, read->size(), rows);
    return [read](std::size_t row) { return (*read)[row]; };
  }
  PlainColumn plain = plain_column(values, column);
  require_length(column, nb::len(plain.values), rows);
  return reader_of(std::move(plain), column);
}

/// Makes the readers of a mapping from names to columns.
std::vector<ReadValue> readers_of(const Schema& schema, nb::handle columns, std::size_t rows) {
  std::vector<ReadValue> readers(schema.size());
  for (const nb::handle item : nb::iter(columns.attr("items")())) {
    const auto name = text_of_object(item[0]);
    if (!name) throw_invalid("attributes: the name of a column is no str");
    const std::size_t number =
        parsed("attributes", [&] { return indexing::require_column(schema, *name); });
    readers[number] = reader_for(nb::object(item[1]), schema[number], rows);
  }
  return readers;
}

nb::object times_array(const layout::TupleView& tuples, std::size_t column) {
  constexpr std::int64_t kNotATime = std::numeric_limits<std::int64_t>::min();
  std::vector<std::int64_t> times(tuples.count(), kNotATime);
  for (std::size_t row = 0; row < times.size(); ++row) {
    const layout::Tuple tuple(tuples.row(row));
    if (!tuple.is_null(column)) times[row] = static_cast<std::int64_t>(tuple.word(column));
  }
  return to_numpy(std::move(times), 1, tuples.count(), true).attr("view")("datetime64[us]");
}

nb::object column_object(const Schema& schema, const layout::TupleView& tuples,
                         std::size_t column) {
  if (schema[column].type == ColumnType::timestamp) return times_array(tuples, column);
  nb::list list;
  for (std::size_t row = 0; row < tuples.count(); ++row) {
    list.append(value_object(schema, layout::Tuple(tuples.row(row)), column));
  }
  return list;
}

}  // namespace

Schema to_schema(const nb::object& schema) {
  if (schema.is_none()) return {};
  if (const auto text = text_of_object(schema)) {
    return parsed("schema", [&] { return layout::parse_schema(*text); });
  }
  if (!nb::hasattr(schema, "items")) {
    throw_invalid("schema: neither a dict, as {{'price': 'i64'}}, nor a text, as 'price: i64'");
  }
  std::vector<Column> columns;
  for (const nb::handle item : nb::iter(schema.attr("items")())) {
    columns.push_back(column_of(item[0], item[1]));
  }
  return parsed("schema", [&] { return Schema(std::move(columns)); });
}

void append_rows(const Schema& schema, std::span<const ReadValue> readers, std::size_t rows,
                 std::size_t first, Tuples& tuples) {
  std::vector<Value> values(schema.size());
  for (std::size_t row = 0; row < rows; ++row) {
    try {
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = readers[i] ? readers[i](row) : Value();
      }
      tuples.append(schema, values);
    } catch (const StatusError&) {
      throw;
    } catch (const Error& error) {
      throw_invalid("attributes: row {}: {}", first + row, error.what());
    }
  }
}

Tuples to_tuples(const Schema& schema, const nb::object& attributes, std::size_t rows) {
  if (nb::hasattr(attributes, "__arrow_c_stream__")) return arrow_tuples(schema, attributes, rows);
  Tuples tuples;
  std::vector<ReadValue> readers(schema.size());
  if (!attributes.is_none()) {
    nb::list known;
    for (const Column& column : schema.columns()) known.append(nb::str(column.name.c_str()));
    const nb::object columns =
        nb::module_::import_("farvec._attributes").attr("columns")(attributes, known, rows);
    readers = readers_of(schema, columns, rows);
  }
  append_rows(schema, readers, rows, 0, tuples);
  return tuples;
}

nb::dict to_columns(const Schema& schema, const layout::TupleView& tuples,
                    std::span<const std::size_t> columns) {
  nb::dict dict;
  for (const std::size_t column : columns) {
    dict[schema[column].name.c_str()] = column_object(schema, tuples, column);
  }
  return dict;
}

nb::dict to_columns(const Schema& schema, const layout::TupleView& tuples) {
  std::vector<std::size_t> all(schema.size());
  std::iota(all.begin(), all.end(), 0);
  return to_columns(schema, tuples, all);
}

std::vector<std::size_t> selected_columns(const layout::Schema& schema,
                                          const std::vector<std::string>& names) {
  return parsed("select", [&] { return schema.require(names); });
}

}  // namespace farvec::python
