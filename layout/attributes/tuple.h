// A tuple is the attributes of one row in bytes: in the log, in memtables, and in the file that
// each segment has of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/memory.h"
#include "layout/attributes/schema.h"

namespace farvec::layout {

/// The value of one column of one row. The alternative is the column's type; a timestamp is
/// std::int64_t, bytes are std::string, and std::monostate is null.
using Value = std::variant<std::monostate, bool, std::uint64_t, std::int64_t, double, std::string,
                           std::vector<std::string>>;

/// The most bytes of the attributes of one row.
inline constexpr std::size_t kMostTupleBytes = std::size_t{1} << 16;

/// Appends the tuple of a row to `out`, and returns its bytes. There is a value for each column;
/// the labels of a set may come in any order and more than once. Throws Error naming the column,
/// and then `out` is as it was: a value of another type, null where the schema forbids it, NaN, a
/// string that is no UTF-8 or has a zero byte, an empty label, more than kMostTupleBytes.
std::size_t append_tuple(const Schema& schema, std::span<const Value> values,
                         std::vector<std::byte>& out);

/// Throws Error, beginning with `source`, unless the bytes are a tuple that append_tuple() makes
/// for `schema` or for its first columns.
void check_tuple(std::span<const std::byte> bytes, const Schema& schema, std::string_view source);

/// Throws Error naming the column unless all columns of the schema may be null.
void require_nulls(const Schema& schema);
/// Returns the tuple of a row whose attributes are all null, whatever the schema.
std::span<const std::byte> null_tuple();

/// Labels are the strings of one set, ascending, each once. They are borrowed.
class Labels {
 public:
  Labels() = default;
  /// Is for Tuple: the bytes begin with the count.
  explicit Labels(const std::byte* bytes)
      : bytes_(bytes), count_(load_unaligned<std::uint32_t>(bytes)) {}

  std::uint32_t size() const { return count_; }
  std::string_view operator[](std::uint32_t label) const {
    const std::uint32_t begin = label == 0 ? 0 : end(label - 1);
    return {reinterpret_cast<const char*>(text() + begin), end(label) - begin};
  }

 private:
  std::uint32_t end(std::uint32_t label) const {
    return load_unaligned<std::uint32_t>(bytes_ + (1 + label) * sizeof(std::uint32_t));
  }
  const std::byte* text() const { return bytes_ + (1 + count_) * sizeof(std::uint32_t); }

  const std::byte* bytes_ = nullptr;
  std::uint32_t count_ = 0;
};

/// A Tuple reads the attributes of a row from bytes that check_tuple() accepts, which it borrows.
/// A row that is older than a column has null there.
///
/// The bytes, little-endian: the number of columns (2 bytes), a bit for each column that is null,
/// 8 bytes for each column, and then what does not fit these. The 8 bytes are a scalar, or where a
/// text begins (4 bytes) and how long it is (4 bytes). A set is a text too: the count of its labels
/// (4 bytes), where each ends (4 bytes), and the labels.
class Tuple {
 public:
  explicit Tuple(std::span<const std::byte> bytes)
      : bytes_(bytes), columns_(load_unaligned<std::uint16_t>(bytes.data())) {}

  bool is_null(std::size_t column) const {
    if (column >= columns_) return true;
    return (std::to_integer<unsigned>(bytes_[2 + column / 8]) >> (column % 8) & 1) != 0;
  }
  /// Returns the bits of a scalar that is not null: an integer, 0 or 1, or those of a double.
  std::uint64_t word(std::size_t column) const {
    return load_unaligned<std::uint64_t>(bytes_.data() + slots() + 8 * column);
  }
  /// Returns a string, or bytes, that are not null.
  std::string_view text(std::size_t column) const {
    const std::uint64_t place = word(column);
    const std::size_t begin = slots() + std::size_t{8} * columns_ + (place & 0xffffffff);
    return {reinterpret_cast<const char*>(bytes_.data() + begin), place >> 32};
  }
  /// Returns the labels of a set that is not null.
  Labels labels(std::size_t column) const {
    return Labels(reinterpret_cast<const std::byte*>(text(column).data()));
  }
  Value value(const Schema& schema, std::size_t column) const {
    return value(schema[column].type, column);
  }
  Value value(ColumnType type, std::size_t column) const;

 private:
  std::size_t slots() const { return 2 + (std::size_t{columns_} + 7) / 8; }

  std::span<const std::byte> bytes_;
  std::uint16_t columns_ = 0;
};

/// The tuples of some rows, one after the other, up to the end of the bytes. It borrows all.
struct TupleView {
  std::span<const std::uint64_t> ends;  ///< where the tuple of each row ends in `bytes`
  std::span<const std::byte> bytes;
  std::uint64_t begin = 0;  ///< where the first one begins

  std::size_t count() const { return ends.size(); }
  std::span<const std::byte> row(std::size_t row) const {
    const std::uint64_t first = row == 0 ? begin : ends[row - 1];
    return bytes.subspan(first, ends[row] - first);
  }
  TupleView part(std::size_t first, std::size_t rows) const {
    const std::uint64_t from = first == 0 ? begin : ends[first - 1];
    return {ends.subspan(first, rows), bytes.first(rows == 0 ? from : ends[first + rows - 1]),
            from};
  }
};

/// Throws Error, beginning with `source`, unless the tuples fill their bytes one after the other
/// and each of them is whole.
void check_tuples(const TupleView& rows, const Schema& schema, std::string_view source);

/// Owns the tuples of some rows.
struct Tuples {
  std::vector<std::uint64_t> ends;
  std::vector<std::byte> bytes;

  std::size_t count() const { return ends.size(); }
  TupleView view() const { return {ends, bytes, 0}; }
  /// Throws what append_tuple() throws.
  void append(const Schema& schema, std::span<const Value> values);
  /// Appends a tuple that is whole.
  void append(std::span<const std::byte> tuple);
  void append(const TupleView& rows);
  /// Copies rows that may not be sound; check_tuples() says so of the copy.
  static Tuples copy_of(const TupleView& rows);
};

/// Returns tuples with the columns of these numbers alone, in this order: of the schema that
/// select_columns() makes of `schema`. All rows must be whole.
Tuples select_columns(const TupleView& rows, const Schema& schema,
                      std::span<const std::size_t> columns);
Schema select_columns(const Schema& schema, std::span<const std::size_t> columns);

/// Appends `tuple`, of `schema` or of its first columns, with other values in the columns of these
/// numbers: `values` is a tuple of select_columns(). Both must be whole. Throws what append_tuple()
/// throws.
void append_with_columns(const Schema& schema, std::span<const std::byte> tuple,
                         std::span<const std::size_t> columns, std::span<const std::byte> values,
                         Tuples& out);

}  // namespace farvec::layout
