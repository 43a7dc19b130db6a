// A Schema names the attributes that the rows of a collection have, and says of which type each is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layout/region/json_fields.h"

namespace farvec::layout {

/// The numbers are in files: they stay.
enum class ColumnType : std::uint8_t {
  u64 = 1,
  i64 = 2,
  f64 = 3,
  boolean = 4,
  timestamp = 5,  ///< microseconds since 1970-01-01 00:00 UTC
  string = 6,
  set = 7,    ///< strings without an order, each at most once
  bytes = 8,  ///< comes back with the row, and no condition asks for it
};

/// Returns the type's word: "u64", "i64", "f64", "bool", "timestamp", "string", "set" or "bytes".
std::string_view to_string(ColumnType type);
/// Throws Error naming the words.
ColumnType parse_column_type(std::string_view word);
/// Says whether a value of this type fits eight bytes.
constexpr bool is_scalar(ColumnType type) {
  return type <= ColumnType::timestamp;
}

struct Column {
  std::string name;
  ColumnType type = ColumnType::i64;
  bool nullable = true;
  bool tenant = false;  ///< searches name its value (attributes/tenant.h); then it is not nullable

  bool operator==(const Column&) const = default;
};

/// A Schema is a value that never changes. Columns are numbered from 0.
class Schema {
 public:
  static constexpr std::size_t kMostColumns = 256;
  static constexpr std::size_t kMostNameBytes = 64;

  /// Makes a schema without columns.
  Schema() = default;
  /// Throws Error naming the column: a name that is empty, too long, taken, a word of conditions,
  /// or no letter or `_` followed by letters, digits and `_`; more columns than kMostColumns; a
  /// tenant's column that may be null or is neither u64, i64 nor string, or two of them.
  explicit Schema(std::vector<Column> columns);

  bool empty() const { return columns_.empty(); }
  std::size_t size() const { return columns_.size(); }
  const Column& operator[](std::size_t column) const { return columns_[column]; }
  const std::vector<Column>& columns() const { return columns_; }
  /// Returns the number of a column; nothing where there is none of that name.
  std::optional<std::size_t> find(std::string_view name) const;
  /// Returns the number of the tenant's column; nothing where there is none.
  std::optional<std::size_t> tenant() const;
  /// Throws Error that names the columns there are.
  std::size_t require(std::string_view name) const;
  /// Does the same for each of several names, none of which may come twice.
  std::vector<std::size_t> require(std::span<const std::string> names) const;

  /// Returns a schema with more columns after these. Throws Error naming the column: one that may
  /// not be null, since older rows are null there, and what the constructor throws.
  Schema with(const Schema& more) const;
  /// Says whether the first columns of this schema are those of `older`.
  bool begins_with(const Schema& older) const;

  bool operator==(const Schema&) const = default;

 private:
  std::vector<Column> columns_;
};

/// Parses "price: i64, section: string not null, tags: set, owner: u64 tenant". Throws Error that
/// says what is wrong and where.
Schema parse_schema(std::string_view text);
/// Writes what parse_schema() reads.
std::string to_string(const Schema& schema);

/// An array with an object for each column.
nlohmann::ordered_json schema_to_json(const Schema& schema);
/// Reads the field `name` of `fields`. Throws Error naming the field.
Schema schema_from_json(const JsonFields& fields, const char* name);

}  // namespace farvec::layout
