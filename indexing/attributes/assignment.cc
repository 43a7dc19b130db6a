#include "indexing/attributes/assignment.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/file_names.h"
#include "indexing/attributes/attributes_json.h"
#include "indexing/attributes/exact_value.h"

namespace farvec::indexing {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr const char* kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// Returns where the text in double quotes that begins at `begin` ends; the end of all where it has
/// no end.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return text.size();
}

/// Appends the text in single quotes that begins at `begin` as a string of JSON, and returns where
/// it ends. Throws Error where it has no end.
std::size_t append_quoted(std::string_view text, std::size_t begin, std::string& json) {
  std::string value;
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\'') {
      if (i + 1 == text.size() || text[i + 1] != '\'') {
        json += nlohmann::json(value).dump();
        return i + 1;
      }
      ++i;
    }
    value += text[i];
  }
  throw Error("the quote before {} has no end", shown_text(value));
}

/// Returns a value as JSON has it.
std::string to_json(std::string_view text) {
  std::string json;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '\'') {
      i = append_quoted(text, i, json);
      continue;
    }
    const std::size_t end = text[i] == '"' ? end_of_string(text, i) : i + 1;
    json += text.substr(i, end - i);
    i = end;
  }
  return json;
}

/// One value alone, so that it cannot name further columns.
void require_value(const std::string& json, std::string_view text) {
  if (nlohmann::json::accept(json)) return;
  throw Error("{} is no value: write a number, 'text', true, false, null or ['a', 'b']",
              shown_text(text));
}

}  // namespace

Assignment parse_assignment(std::string_view text, const layout::Schema& schema) {
  if (!is_utf8(text)) throw Error("the text is no UTF-8");
  const std::size_t sign = text.find('=');
  if (sign == std::string_view::npos) throw Error("there is no '=': write COLUMN = VALUE");
  const std::size_t column = require_column(schema, trimmed(text.substr(0, sign)));
  const std::string_view value = trimmed(text.substr(sign + 1));
  const std::string json = to_json(value);
  require_value(json, value);
  const nlohmann::json name = schema[column].name;
  return {column,
          std::move(parse_attributes("{" + name.dump() + ":" + json + "}", schema)[column])};
}

ColumnsOfRows parse_assignments(const std::vector<std::string>& texts,
                                const layout::Schema& schema) {
  ColumnsOfRows row;
  std::vector<std::size_t> columns;
  std::vector<layout::Value> values;
  for (const std::string& text : texts) {
    try {
      Assignment one = parse_assignment(text, schema);
      if (std::find(columns.begin(), columns.end(), one.column) != columns.end()) {
        throw Error("column '{}' has a value already", schema[one.column].name);
      }
      columns.push_back(one.column);
      values.push_back(std::move(one.value));
      row.names.push_back(schema[one.column].name);
    } catch (const Error& error) {
      throw Error("{}: {}", shown_text(text), error.what());
    }
  }
  row.values.append(layout::select_columns(schema, columns), values);
  return row;
}

}  // namespace farvec::indexing
