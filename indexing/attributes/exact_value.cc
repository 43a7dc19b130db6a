#include "indexing/attributes/exact_value.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/timestamp.h"

namespace farvec::indexing {
namespace {

using layout::Column;
using layout::ColumnType;
using layout::Value;

constexpr std::size_t kShownBytes = 60;
constexpr std::int64_t kMostI64 = std::numeric_limits<std::int64_t>::max();
constexpr double kEndOfU64 = 18446744073709551616.0;

/// Returns the double that is this integer; nothing where there is none.
std::optional<double> exact_double(std::uint64_t value) {
  const auto number = static_cast<double>(value);
  const bool same = number < kEndOfU64 && static_cast<std::uint64_t>(number) == value;
  return same ? std::optional(number) : std::nullopt;
}

/// Reads all of the text as a number of this type; nothing where it is another or none.
template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_integer(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Says whether the text is a number as JSON has it, so that words like "inf" are none.
bool is_decimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of("+-.0123456789eE") == std::string_view::npos;
}

bool is_word(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char c, char l) { return c == l || (c >= 'A' && c <= 'Z' && c + 32 == l); });
}

Value integer_of_text(std::string_view text, const Column& column) {
  if (const auto number = number_of<std::uint64_t>(text)) return exact_value(*number, column);
  if (const auto number = number_of<std::int64_t>(text)) return exact_value(*number, column);
  if (is_integer(text)) refuse_long_integer(column, shown_text(text));
  refuse_value(column, shown_text(text));
}

Value double_of_text(std::string_view text, const Column& column) {
  if (is_integer(text)) return integer_of_text(text, column);
  const auto number = is_decimal(text) ? number_of<double>(text) : std::nullopt;
  if (!number) refuse_value(column, shown_text(text));
  return *number;
}

std::vector<std::string> labels_of(std::string_view text) {
  std::vector<std::string> labels;
  for (std::size_t begin = 0; begin <= text.size() && !text.empty();) {
    const std::size_t end = std::min(text.find('|', begin), text.size());
    labels.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return labels;
}

}  // namespace

Value exact_value(bool value, const Column& column) {
  if (column.type == ColumnType::boolean) return value;
  refuse_value(column, value ? "true" : "false");
}

Value exact_value(std::uint64_t value, const Column& column) {
  if (column.type == ColumnType::u64) return value;
  if (column.type == ColumnType::i64 && value <= static_cast<std::uint64_t>(kMostI64)) {
    return static_cast<std::int64_t>(value);
  }
  if (column.type != ColumnType::f64) refuse_value(column, std::to_string(value));
  if (const auto number = exact_double(value)) return *number;
  refuse_long_integer(column, std::to_string(value));
}

Value exact_value(std::int64_t value, const Column& column) {
  if (value >= 0) return exact_value(static_cast<std::uint64_t>(value), column);
  if (column.type == ColumnType::i64) return value;
  if (column.type != ColumnType::f64) refuse_value(column, std::to_string(value));
  // The magnitude, which the least number has too.
  if (const auto number = exact_double(0 - static_cast<std::uint64_t>(value))) return -*number;
  refuse_long_integer(column, std::to_string(value));
}

Value exact_value(double value, const Column& column) {
  if (column.type == ColumnType::f64) return value;
  const std::string shown = fmt::format("{}", value);
  // A float that is whole is shown as one.
  refuse_value(column, is_integer(shown) ? shown + ".0" : shown);
}

Value exact_value(std::string text, const Column& column) {
  if (column.type == ColumnType::string || column.type == ColumnType::bytes) {
    return Value(std::move(text));
  }
  if (column.type != ColumnType::timestamp) refuse_value(column, shown_text(text));
  const auto time = parse_timestamp(text);
  if (time) return *time;
  throw Error("column '{}' is timestamp, and the value is {}: write {}", column.name,
              shown_text(text), kTimestampForms);
}

Value exact_time(std::int64_t microseconds, const Column& column) {
  if (column.type != ColumnType::timestamp) {
    refuse_value(column, "datetime64 " + timestamp_text(microseconds));
  }
  if (microseconds >= kLeastTimestamp && microseconds <= kMostTimestamp) return microseconds;
  throw Error("column '{}' is timestamp, and the value is {}: the years are 0001 to 9999",
              column.name, timestamp_text(microseconds));
}

Value value_of_text(std::string_view text, const Column& column) {
  switch (column.type) {
    case ColumnType::u64:
    case ColumnType::i64:
      return integer_of_text(text, column);
    case ColumnType::f64:
      return double_of_text(text, column);
    case ColumnType::boolean:
      if (is_word(text, "true")) return true;
      if (is_word(text, "false")) return false;
      refuse_value(column, shown_text(text));
    case ColumnType::set:
      return labels_of(text);
    default:
      return exact_value(std::string(text), column);
  }
}

std::size_t require_column(const layout::Schema& schema, std::string_view name) {
  if (const auto column = schema.find(name)) return *column;
  if (schema.empty()) throw Error("there is no column {}: the schema has none", shown_text(name));
  throw Error("there is no column {}: the schema is {}", shown_text(name), to_string(schema));
}

void refuse_value(const Column& column, std::string_view shown) {
  throw Error("column '{}' is {}, and the value is {}", column.name, to_string(column.type), shown);
}

void refuse_long_integer(const Column& column, std::string_view digits) {
  if (column.type != ColumnType::f64) refuse_value(column, digits);
  throw Error(
      "column '{}' is f64, and no f64 is exactly {}: round it, or write it with an exponent",
      column.name, digits);
}

std::string shown_text(std::string_view text) {
  const bool cut = text.size() > kShownBytes;
  const std::string quoted = nlohmann::json(text.substr(0, kShownBytes))
                                 .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  const std::string inner = quoted.substr(1, quoted.size() - 2);
  return fmt::format("'{}'{}", inner, cut ? "..." : "");
}

}  // namespace farvec::indexing
