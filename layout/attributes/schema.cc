#include "layout/attributes/schema.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/error.h"

namespace farvec::layout {
namespace {

constexpr std::array<std::pair<ColumnType, std::string_view>, 8> kTypes{
    {{ColumnType::u64, "u64"},
     {ColumnType::i64, "i64"},
     {ColumnType::f64, "f64"},
     {ColumnType::boolean, "bool"},
     {ColumnType::timestamp, "timestamp"},
     {ColumnType::string, "string"},
     {ColumnType::set, "set"},
     {ColumnType::bytes, "bytes"}}};

/// Words of conditions, and the row's id. They cannot be names, whatever their case.
constexpr std::array<std::string_view, 16> kReserved{
    "id",   "and", "or",       "not", "in",    "is",     "null",   "between",
    "true", "any", "contains", "all", "false", "prefix", "vector", "distance"};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string lower(std::string_view word) {
  std::string text(word);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

void require_name(const std::string& name) {
  if (name.empty() || name.size() > Schema::kMostNameBytes) {
    throw Error("the name '{}' of a column has {} bytes: it needs 1 to {}",
                name.substr(0, Schema::kMostNameBytes), name.size(), Schema::kMostNameBytes);
  }
  const bool plain = is_letter(name.front()) && std::all_of(name.begin(), name.end(), [](char c) {
                       return is_letter(c) || is_digit(c);
                     });
  if (!plain) {
    throw Error("the name '{}' of a column is not a letter or _ followed by letters, digits and _",
                name);
  }
  if (std::find(kReserved.begin(), kReserved.end(), lower(name)) != kReserved.end()) {
    throw Error("a column cannot be called '{}', which is a word of conditions", name);
  }
}

/// Takes a word from the end of a text, if it has it after a blank.
bool take_last(std::string_view& text, std::string_view word) {
  if (text.size() <= word.size() || !text.ends_with(word)) return false;
  const std::string_view before = text.substr(0, text.size() - word.size());
  if (trimmed(before).size() == before.size()) return false;
  text = trimmed(before);
  return true;
}

bool may_be_tenant(ColumnType type) {
  return type == ColumnType::u64 || type == ColumnType::i64 || type == ColumnType::string;
}

void require_tenant_fits(const Column& column) {
  if (!may_be_tenant(column.type)) {
    throw Error("the tenant's column '{}' is a {}: it is u64, i64 or string", column.name,
                to_string(column.type));
  }
  if (column.nullable) throw Error("the tenant's column '{}' may be null", column.name);
}

Column parse_column(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    throw Error("the column '{}' has no type: write NAME: TYPE, as in 'price: i64'", text);
  }
  Column column;
  column.name = trimmed(text.substr(0, colon));
  std::string_view type = trimmed(text.substr(colon + 1));
  column.tenant = take_last(type, "tenant");
  const bool not_null = take_last(type, "not null");
  column.tenant = take_last(type, "tenant") || column.tenant;
  column.nullable = !not_null && !column.tenant;
  column.type = parse_column_type(type);
  return column;
}

}  // namespace

std::string_view to_string(ColumnType type) {
  for (const auto& [value, word] : kTypes) {
    if (value == type) return word;
  }
  return "unknown";
}

ColumnType parse_column_type(std::string_view word) {
  for (const auto& [type, name] : kTypes) {
    if (name == word) return type;
  }
  throw Error(
      "'{}' is no type of a column: it is u64, i64, f64, bool, timestamp, string, set or bytes",
      word);
}

Schema::Schema(std::vector<Column> columns) : columns_(std::move(columns)) {
  if (columns_.size() > kMostColumns) {
    throw Error("a schema of {} columns has more than {}", columns_.size(), kMostColumns);
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    require_name(columns_[i].name);
    if (*find(columns_[i].name) != i) {
      throw Error("the schema has two columns of the name '{}'", columns_[i].name);
    }
    if (!columns_[i].tenant) continue;
    require_tenant_fits(columns_[i]);
    if (*tenant() != i) {
      throw Error("the schema has two columns of tenants, '{}' and '{}'", columns_[*tenant()].name,
                  columns_[i].name);
    }
  }
}

Schema Schema::with(const Schema& more) const {
  for (const Column& column : more.columns_) {
    if (column.nullable) continue;
    throw Error("the new column '{}' is not null: rows that are there would be null in it",
                column.name);
  }
  std::vector<Column> all = columns_;
  all.insert(all.end(), more.columns_.begin(), more.columns_.end());
  return Schema(std::move(all));
}

bool Schema::begins_with(const Schema& older) const {
  return older.size() <= size() &&
         std::equal(older.columns_.begin(), older.columns_.end(), columns_.begin());
}

std::optional<std::size_t> Schema::find(std::string_view name) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].name == name) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> Schema::tenant() const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].tenant) return i;
  }
  return std::nullopt;
}

std::size_t Schema::require(std::string_view name) const {
  if (const auto column = find(name)) return *column;
  if (empty()) throw Error("there is no column '{}': the rows have no attributes", name);
  throw Error("there is no column '{}': the schema is {}", name, to_string(*this));
}

std::vector<std::size_t> Schema::require(std::span<const std::string> names) const {
  std::vector<std::size_t> columns;
  for (const std::string& name : names) {
    const std::size_t column = require(std::string_view(name));
    if (std::find(columns.begin(), columns.end(), column) != columns.end()) {
      throw Error("column '{}' comes twice", name);
    }
    columns.push_back(column);
  }
  return columns;
}

Schema parse_schema(std::string_view text) {
  std::vector<Column> columns;
  if (trimmed(text).empty()) return {};
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    columns.push_back(parse_column(trimmed(text.substr(begin, comma - begin))));
    begin = comma + 1;
  }
  return Schema(std::move(columns));
}

std::string to_string(const Schema& schema) {
  std::string text;
  for (const Column& column : schema.columns()) {
    text += fmt::format("{}{}: {}{}", text.empty() ? "" : ", ", column.name, to_string(column.type),
                        column.tenant     ? " tenant"
                        : column.nullable ? ""
                                          : " not null");
  }
  return text;
}

nlohmann::ordered_json schema_to_json(const Schema& schema) {
  auto array = nlohmann::ordered_json::array();
  for (const Column& column : schema.columns()) {
    array.push_back(
        {{"name", column.name}, {"type", to_string(column.type)}, {"nullable", column.nullable}});
    if (column.tenant) array.back()["tenant"] = true;
  }
  return array;
}

Schema schema_from_json(const JsonFields& fields, const char* name) {
  const std::size_t count = fields.array(name).size();
  if (count > Schema::kMostColumns) {
    fields.fail(name, fmt::format("are {}, more than {}", count, Schema::kMostColumns));
  }
  std::vector<Column> columns;
  for (std::size_t i = 0; i < count; ++i) {
    const JsonFields column = fields.element(name, i);
    columns.push_back({column.text("name", Schema::kMostNameBytes),
                       column.word("type", parse_column_type), column.boolean("nullable"),
                       column.has("tenant") && column.boolean("tenant")});
  }
  try {
    return Schema(std::move(columns));
  } catch (const Error& error) {
    fields.fail(name, fmt::format("cannot be ({})", error.what()));
  }
}

}  // namespace farvec::layout
