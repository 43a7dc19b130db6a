#include "layout/attributes/tuple.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/file_names.h"

namespace farvec::layout {
namespace {

using Texts = std::vector<std::string>;

constexpr std::size_t kSlotBytes = 8;
constexpr std::size_t kCountBytes = sizeof(std::uint32_t);

std::size_t null_bytes(std::size_t columns) {
  return (columns + 7) / 8;
}

std::size_t slots_begin(std::size_t columns) {
  return sizeof(std::uint16_t) + null_bytes(columns);
}

std::string_view word_of(const Value& value) {
  constexpr std::string_view kWords[] = {"null", "bool",   "u64", "i64 or a timestamp",
                                         "f64",  "string", "set"};
  return kWords[value.index()];
}

/// Says whether the value's alternative is that of the column's type.
bool fits(const Value& value, ColumnType type) {
  switch (type) {
    case ColumnType::u64:
      return std::holds_alternative<std::uint64_t>(value);
    case ColumnType::i64:
    case ColumnType::timestamp:
      return std::holds_alternative<std::int64_t>(value);
    case ColumnType::f64:
      return std::holds_alternative<double>(value);
    case ColumnType::boolean:
      return std::holds_alternative<bool>(value);
    case ColumnType::string:
    case ColumnType::bytes:
      return std::holds_alternative<std::string>(value);
    case ColumnType::set:
      return std::holds_alternative<Texts>(value);
  }
  return false;
}

/// Returns what is wrong with a text of a condition; empty: nothing.
std::string_view fault_of(std::string_view text) {
  if (!is_utf8(text)) return "is no UTF-8";
  if (text.find('\0') != std::string_view::npos) return "has a zero byte";
  return {};
}

std::string_view fault_of_label(std::string_view label) {
  return label.empty() ? "is empty" : fault_of(label);
}

void require_text(const Column& column, std::string_view what, std::string_view fault) {
  if (!fault.empty()) throw Error("{} of column '{}' {}", what, column.name, fault);
}

void require_value(const Column& column, const Value& value) {
  if (std::holds_alternative<std::monostate>(value)) {
    if (!column.nullable) throw Error("column '{}' is null, which it may not be", column.name);
    return;
  }
  if (!fits(value, column.type)) {
    throw Error("column '{}' is {}, and the value is {}", column.name, to_string(column.type),
                word_of(value));
  }
  if (const double* number = std::get_if<double>(&value);
      number != nullptr && std::isnan(*number)) {
    throw Error("column '{}' is NaN: leave it null", column.name);
  }
  if (column.type == ColumnType::string) {
    require_text(column, "the string", fault_of(std::get<std::string>(value)));
  }
  if (column.type == ColumnType::set) {
    for (const std::string& label : std::get<Texts>(value)) {
      require_text(column, "a label", fault_of_label(label));
    }
  }
}

void append_text(std::string_view text, std::vector<std::byte>& out) {
  const auto bytes = std::as_bytes(std::span(text));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// Appends the labels of a set, ascending and each once.
void append_labels(const Texts& texts, std::vector<std::byte>& out) {
  std::vector<std::string_view> labels(texts.begin(), texts.end());
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  const std::size_t begin = out.size();
  out.resize(begin + (1 + labels.size()) * kCountBytes);
  store_unaligned(out.data() + begin, static_cast<std::uint32_t>(labels.size()));
  std::size_t end = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    end += labels[i].size();
    store_unaligned(out.data() + begin + (1 + i) * kCountBytes, static_cast<std::uint32_t>(end));
  }
  for (const std::string_view label : labels) append_text(label, out);
}

std::uint64_t word_of_scalar(const Value& value) {
  if (const bool* truth = std::get_if<bool>(&value)) return *truth ? 1 : 0;
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return static_cast<std::uint64_t>(*number);
  }
  // A zero has one form, so that equal numbers have equal bits.
  const double number = std::get<double>(value);
  return std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number);
}

/// Returns what a value's slot has, and appends the text where it is none of a scalar. Texts begin
/// at `texts` in `out`.
std::uint64_t append_value(const Value& value, std::size_t texts, std::vector<std::byte>& out) {
  const std::size_t begin = out.size();
  if (const auto* text = std::get_if<std::string>(&value)) {
    append_text(*text, out);
  } else if (const auto* labels = std::get_if<Texts>(&value)) {
    append_labels(*labels, out);
  } else {
    return word_of_scalar(value);
  }
  return (begin - texts) | std::uint64_t{out.size() - begin} << 32;
}

[[noreturn]] void refuse_length(std::size_t bytes) {
  throw Error("the attributes of the row have {} bytes, more than {}", bytes, kMostTupleBytes);
}

/// The fields of a tuple while it is checked.
class TupleCheck {
 public:
  TupleCheck(std::span<const std::byte> bytes, const Schema& schema, std::string_view source)
      : bytes_(bytes), schema_(schema), source_(source) {}

  void run() {
    if (bytes_.size() < sizeof(std::uint16_t) || bytes_.size() > kMostTupleBytes) fail("length");
    const auto columns = load_unaligned<std::uint16_t>(bytes_.data());
    if (columns > schema_.size()) fail("count of columns");
    const std::size_t slots = slots_begin(columns);
    if (bytes_.size() < slots + columns * kSlotBytes) fail("length");
    texts_ = bytes_.subspan(slots + columns * kSlotBytes);
    for (std::size_t column = 0; column < columns; ++column) {
      check(column, load_unaligned<std::uint64_t>(bytes_.data() + slots + column * kSlotBytes));
    }
    for (std::size_t bit = columns; bit < 8 * null_bytes(columns); ++bit) {
      if (is_null(bit)) fail("bits of null");
    }
    for (std::size_t column = columns; column < schema_.size(); ++column) {
      if (!schema_[column].nullable) fail_column(column, "is missing");
    }
    if (next_ != texts_.size()) fail("length");
  }

 private:
  bool is_null(std::size_t column) const {
    return (std::to_integer<unsigned>(bytes_[2 + column / 8]) >> (column % 8) & 1) != 0;
  }

  void check(std::size_t column, std::uint64_t slot) {
    const Column& is = schema_[column];
    if (is_null(column)) {
      if (!is.nullable) fail_column(column, "is null");
      if (slot != 0) fail_column(column, "is null and has a value");
    } else if (!is_scalar(is.type)) {
      check_text(column, slot);
    } else if (is.type == ColumnType::boolean && slot > 1) {
      fail_column(column, "is no bool");
    } else if (is.type == ColumnType::f64 && !is_plain(std::bit_cast<double>(slot))) {
      fail_column(column, "is NaN or a negative zero");
    }
  }

  static bool is_plain(double number) {
    return !std::isnan(number) && (number != 0 || !std::signbit(number));
  }

  void check_text(std::size_t column, std::uint64_t slot) {
    const std::uint64_t length = slot >> 32;
    if ((slot & 0xffffffff) != next_ || length > texts_.size() - next_) {
      fail_column(column, "has no such text");
    }
    const auto text = texts_.subspan(next_, length);
    next_ += length;
    if (schema_[column].type == ColumnType::string) {
      require(column, fault_of({reinterpret_cast<const char*>(text.data()), text.size()}));
    } else if (schema_[column].type == ColumnType::set) {
      check_set(column, text);
    }
  }

  void check_set(std::size_t column, std::span<const std::byte> text) {
    if (text.size() < kCountBytes) fail_column(column, "has no count of labels");
    const auto count = load_unaligned<std::uint32_t>(text.data());
    if (count > text.size() / kCountBytes - 1) fail_column(column, "has no room for its labels");
    const std::size_t bytes = text.size() - (1 + std::size_t{count}) * kCountBytes;
    std::uint32_t end = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto next = load_unaligned<std::uint32_t>(text.data() + (1 + i) * kCountBytes);
      if (next < end || next > bytes) fail_column(column, "has a label that ends nowhere");
      end = next;
    }
    if (end != bytes) fail_column(column, "has bytes after its labels");
    const Labels labels(text.data());
    for (std::uint32_t i = 0; i < count; ++i) {
      require(column, fault_of_label(labels[i]));
      if (i > 0 && labels[i] <= labels[i - 1]) fail_column(column, "has labels out of order");
    }
  }

  void require(std::size_t column, std::string_view fault) const {
    if (!fault.empty()) fail_column(column, fault);
  }
  [[noreturn]] void fail(std::string_view what) const {
    throw Error("{}: its attributes are not sound: their {} cannot be", source_, what);
  }
  [[noreturn]] void fail_column(std::size_t column, std::string_view what) const {
    throw Error("{}: its attributes are not sound: column '{}' {}", source_, schema_[column].name,
                what);
  }

  const std::span<const std::byte> bytes_;
  const Schema& schema_;
  const std::string_view source_;
  std::span<const std::byte> texts_;  ///< the bytes after the slots
  std::size_t next_ = 0;              ///< where the next text begins
};

}  // namespace

std::size_t append_tuple(const Schema& schema, std::span<const Value> values,
                         std::vector<std::byte>& out) {
  const std::size_t columns = schema.size();
  FARVEC_CHECK(values.size() == columns, "{} values for {} columns", values.size(), columns);
  for (std::size_t i = 0; i < columns; ++i) require_value(schema[i], values[i]);
  const std::size_t begin = out.size();
  const std::size_t slots = begin + slots_begin(columns);
  const std::size_t texts = slots + columns * kSlotBytes;
  out.resize(texts);
  store_unaligned(out.data() + begin, static_cast<std::uint16_t>(columns));
  for (std::size_t i = 0; i < columns; ++i) {
    if (std::holds_alternative<std::monostate>(values[i])) {
      out[begin + sizeof(std::uint16_t) + i / 8] |= std::byte{1} << (i % 8);
      continue;
    }
    store_unaligned(out.data() + slots + i * kSlotBytes, append_value(values[i], texts, out));
  }
  const std::size_t bytes = out.size() - begin;
  if (bytes > kMostTupleBytes) {
    out.resize(begin);
    refuse_length(bytes);
  }
  return bytes;
}

void check_tuple(std::span<const std::byte> bytes, const Schema& schema, std::string_view source) {
  TupleCheck(bytes, schema, source).run();
}

void check_tuples(const TupleView& rows, const Schema& schema, std::string_view source) {
  std::uint64_t begin = rows.begin;
  for (std::size_t i = 0; i < rows.count(); ++i) {
    if (rows.ends[i] < begin || rows.ends[i] > rows.bytes.size()) {
      throw Error("{}: row {}: its attributes end where they cannot", source, i);
    }
    begin = rows.ends[i];
    check_tuple(rows.row(i), schema, fmt::format("{}: row {}", source, i));
  }
  if (begin != rows.bytes.size()) throw Error("{}: bytes follow the last attributes", source);
}

void require_nulls(const Schema& schema) {
  for (const Column& column : schema.columns()) require_value(column, {});
}

std::span<const std::byte> null_tuple() {
  static constexpr std::array<std::byte, sizeof(std::uint16_t)> kNoColumns{};
  return kNoColumns;
}

Value Tuple::value(ColumnType type, std::size_t column) const {
  if (is_null(column)) return {};
  switch (type) {
    case ColumnType::u64:
      return word(column);
    case ColumnType::i64:
    case ColumnType::timestamp:
      return static_cast<std::int64_t>(word(column));
    case ColumnType::f64:
      return std::bit_cast<double>(word(column));
    case ColumnType::boolean:
      return word(column) != 0;
    case ColumnType::string:
    case ColumnType::bytes:
      return std::string(text(column));
    case ColumnType::set:
      break;
  }
  const Labels labels = this->labels(column);
  Texts texts;
  for (std::uint32_t i = 0; i < labels.size(); ++i) texts.emplace_back(labels[i]);
  return texts;
}

void Tuples::append(const Schema& schema, std::span<const Value> values) {
  append_tuple(schema, values, bytes);
  ends.push_back(bytes.size());
}

void Tuples::append(const TupleView& rows) {
  for (std::size_t i = 0; i < rows.count(); ++i) append(rows.row(i));
}

Tuples Tuples::copy_of(const TupleView& rows) {
  const auto bytes = rows.bytes.subspan(std::min<std::size_t>(rows.begin, rows.bytes.size()));
  Tuples copy{.ends = {rows.ends.begin(), rows.ends.end()}, .bytes = {bytes.begin(), bytes.end()}};
  for (std::uint64_t& end : copy.ends) end -= rows.begin;
  return copy;
}

void Tuples::append(std::span<const std::byte> tuple) {
  bytes.insert(bytes.end(), tuple.begin(), tuple.end());
  ends.push_back(bytes.size());
}

Schema select_columns(const Schema& schema, std::span<const std::size_t> columns) {
  std::vector<Column> selected;
  for (const std::size_t column : columns) {
    selected.push_back(schema[column]);
    selected.back().nullable = true;  // a result that is missing has nulls
    selected.back().tenant = false;
  }
  return Schema(std::move(selected));
}

Tuples select_columns(const TupleView& rows, const Schema& schema,
                      std::span<const std::size_t> columns) {
  const Schema part = select_columns(schema, columns);
  Tuples selected;
  std::vector<Value> values(columns.size());
  for (std::size_t row = 0; row < rows.count(); ++row) {
    const Tuple tuple(rows.row(row));
    for (std::size_t i = 0; i < columns.size(); ++i) values[i] = tuple.value(schema, columns[i]);
    selected.append(part, values);
  }
  return selected;
}

void append_with_columns(const Schema& schema, std::span<const std::byte> tuple,
                         std::span<const std::size_t> columns, std::span<const std::byte> values,
                         Tuples& out) {
  const Tuple before(tuple);
  const Tuple given(values);
  std::vector<Value> all(schema.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = before.value(schema, i);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    all[columns[i]] = given.value(schema[columns[i]].type, i);
  }
  out.append(schema, all);
}

}  // namespace farvec::layout
