// Random attributes of rows, with the values that are hard to write as text.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/timestamp.h"
#include "layout/attributes/tuple.h"

namespace farvec::tests {

inline layout::Schema schema_of_all_types() {
  return layout::parse_schema(
      "u: u64, i: i64, f: f64, b: bool, t: timestamp, s: string, l: set, p: bytes");
}

/// Returns text of characters that JSON and CSV treat apart, of 1 to `longest` characters.
inline std::string random_text(Random& random, std::uint64_t longest, bool bars = true) {
  const std::vector<std::string> characters{
      "a",    "\"", ",", "\n", "\r", "\\", " ", "\t", "{", "]", "'", "\xc3\xa9", "\xf0\x9f\x9a\x80",
      "\x01", "0",  "|"};
  std::string text;
  for (std::uint64_t i = 0; i < 1 + random.below(longest); ++i) {
    text += characters[random.below(characters.size() - (bars ? 0 : 1))];
  }
  return text;
}

inline double random_double(Random& random) {
  const auto number = std::bit_cast<double>(random.next());
  return std::isfinite(number) ? number : 0.1;
}

inline layout::Value random_value(Random& random, layout::ColumnType type, bool bars = true) {
  using layout::ColumnType;
  if (random.below(4) == 0) return {};
  switch (type) {
    case ColumnType::u64:
      return random.next();
    case ColumnType::i64:
      return static_cast<std::int64_t>(random.next());
    case ColumnType::f64:
      return random_double(random);
    case ColumnType::boolean:
      return random.below(2) == 0;
    case ColumnType::timestamp: {
      const auto span = static_cast<std::uint64_t>(kMostTimestamp - kLeastTimestamp);
      return kLeastTimestamp + static_cast<std::int64_t>(random.below(span + 1));
    }
    case ColumnType::set: {
      std::vector<std::string> labels(random.below(4));
      for (std::string& label : labels) label = random_text(random, 6, bars);
      return labels;
    }
    default:
      return random.below(5) == 0 ? std::string() : random_text(random, 12);
  }
}

/// Returns values for every column of schema_of_all_types(). Without `bars` no label has a `|`.
inline std::vector<layout::Value> random_values(Random& random, bool bars = true) {
  const layout::Schema schema = schema_of_all_types();
  std::vector<layout::Value> values;
  for (const layout::Column& column : schema.columns()) {
    values.push_back(random_value(random, column.type, bars));
  }
  return values;
}

}  // namespace farvec::tests
