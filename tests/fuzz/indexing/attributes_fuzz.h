// What the targets of this room do with the fuzzer's bytes.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>

#include "indexing/attributes/attribute_reader.h"
#include "indexing/attributes/attributes_json.h"
#include "tests/fuzz/fuzz_file.h"

namespace farvec::fuzz {

inline const layout::Schema& attribute_schema() {
  static const layout::Schema schema = layout::parse_schema(
      "u: u64, i: i64, f: f64, b: bool, t: timestamp, s: string, l: set, p: bytes");
  return schema;
}

/// Reads a file with this suffix, which has all columns, or the one that `column` names by "NAME=".
/// The tuples that come of it have to be whole, and the same after a
/// way through JSON.
inline int read_attributes(const char* suffix, const std::uint8_t* data, std::size_t size,
                           const std::string& column = "") {
  static const FuzzFile file(suffix);
  const std::string path = column + file.write(data, size);
  layout::Tuples tuples;
  expect_error_at_most([&] { tuples = indexing::read_attributes(path, attribute_schema()); });
  indexing::ColumnsOfRows columns;
  expect_error_at_most([&] { columns = indexing::read_columns(path, attribute_schema()); });
  const auto numbers = attribute_schema().require(columns.names);
  layout::check_tuples(columns.values.view(), layout::select_columns(attribute_schema(), numbers),
                       "the columns");
  for (std::size_t row = 0; row < tuples.count(); ++row) {
    const auto bytes = tuples.view().row(row);
    layout::check_tuple(bytes, attribute_schema(), "a tuple");
    const auto json = indexing::attributes_json(attribute_schema(), layout::Tuple(bytes));
    layout::Tuples again;
    again.append(attribute_schema(), indexing::parse_attributes(json.dump(), attribute_schema()));
    if (!std::equal(bytes.begin(), bytes.end(), again.bytes.begin(), again.bytes.end())) abort();
  }
  return 0;
}

}  // namespace farvec::fuzz
