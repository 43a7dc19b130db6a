#include "indexing/attributes/npy_columns.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/memory.h"
#include "dataset/npy_column.h"
#include "distance/half.h"
#include "indexing/attributes/exact_value.h"

namespace farvec::indexing {
namespace {

using dataset::NpyElement;
using dataset::NpyKind;
using layout::Column;
using layout::Value;

constexpr std::string_view kSuffix = ".npy";
constexpr std::size_t kBlockRows = 4096;
constexpr std::int64_t kNotATime = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kNanosecondsInMicrosecond = 1000;

/// Splits a text after each ".npy" that a comma follows.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(".npy,");
    if (end == std::string_view::npos) break;
    parts.push_back(text.substr(0, end + kSuffix.size()));
    text.remove_prefix(end + kSuffix.size() + 1);
  }
  parts.push_back(text);
  return parts;
}

/// Cuts a part at its first '='. Throws Error where there is none.
std::pair<std::string_view, std::string> named_file(std::string_view part) {
  const std::size_t at = part.find('=');
  if (at != std::string_view::npos) return {part.substr(0, at), std::string(part.substr(at + 1))};
  throw Error("'{}' has one column, and nothing says which: name it, as in 'price={}'", part, part);
}

std::uint64_t unsigned_at(const std::byte* at, std::size_t bytes) {
  if (bytes == 1) return load_unaligned<std::uint8_t>(at);
  if (bytes == 2) return load_unaligned<std::uint16_t>(at);
  return bytes == 4 ? load_unaligned<std::uint32_t>(at) : load_unaligned<std::uint64_t>(at);
}

std::int64_t signed_at(const std::byte* at, std::size_t bytes) {
  if (bytes == 1) return load_unaligned<std::int8_t>(at);
  if (bytes == 2) return load_unaligned<std::int16_t>(at);
  return bytes == 4 ? load_unaligned<std::int32_t>(at) : load_unaligned<std::int64_t>(at);
}

double double_at(const std::byte* at, std::size_t bytes) {
  if (bytes == 2) return distance::half_to_float(load_unaligned<std::uint16_t>(at));
  return bytes == 4 ? load_unaligned<float>(at) : load_unaligned<double>(at);
}

bool truth_at(const std::byte* at, const Column& column) {
  const auto byte = std::to_integer<unsigned>(*at);
  if (byte > 1) throw Error("column '{}' has the byte {}, which is no bool", column.name, byte);
  return byte == 1;
}

std::int64_t microseconds_in(const std::string& unit) {
  if (unit == "D") return 86'400'000'000;
  if (unit == "h") return 3'600'000'000;
  if (unit == "m") return 60'000'000;
  if (unit == "s") return 1'000'000;
  return unit == "ms" ? 1'000 : 1;
}

/// Throws Error for a time that is no whole number of microseconds, or that 64 bits of these do not
/// hold.
std::int64_t microseconds_of(std::int64_t time, const std::string& unit, const Column& column) {
  if (unit == "ns") {
    if (time % kNanosecondsInMicrosecond == 0) return time / kNanosecondsInMicrosecond;
    throw Error("column '{}' is timestamp, in microseconds, and the value is {} ns: round it",
                column.name, time);
  }
  const std::int64_t length = microseconds_in(unit);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / length;
  if (time >= -most && time <= most) return time * length;
  throw Error(
      "column '{}' is timestamp, and the value is {} {} since 1970: the years are 0001 to "
      "9999",
      column.name, time, unit);
}

Value time_at(const std::byte* at, const std::string& unit, const Column& column) {
  const auto time = load_unaligned<std::int64_t>(at);
  if (time == kNotATime) return {};
  return exact_time(microseconds_of(time, unit, column), column);
}

Value value_at(const std::byte* at, const NpyElement& element, const Column& column) {
  switch (element.kind) {
    case NpyKind::boolean:
      return exact_value(truth_at(at, column), column);
    case NpyKind::unsigned_integer:
      return exact_value(unsigned_at(at, element.bytes), column);
    case NpyKind::signed_integer:
      return exact_value(signed_at(at, element.bytes), column);
    case NpyKind::floating:
      return exact_value(double_at(at, element.bytes), column);
    default:
      return time_at(at, element.unit, column);
  }
}

}  // namespace

/// One column, of which a block of rows is in memory.
class NpyColumns::File {
 public:
  File(const std::string& path, const Column& column) : file_(path), column_(column) {}

  const std::string& path() const { return file_.path(); }
  std::uint64_t rows() const { return file_.rows(); }

  Value value(std::uint64_t row) {
    const std::size_t place = row % kBlockRows;
    if (place == 0) read_block(row);
    try {
      return value_at(block_.data() + place * file_.element().bytes, file_.element(), column_);
    } catch (const Error& error) {
      throw Error("'{}', row {}: {}", path(), row, error.what());
    }
  }

 private:
  void read_block(std::uint64_t first) {
    const std::size_t count = std::min<std::uint64_t>(kBlockRows, rows() - first);
    block_.resize(count * file_.element().bytes);
    file_.read(first, count, block_.data());
  }

  const dataset::NpyColumn file_;
  const Column& column_;
  std::vector<std::byte> block_;
};

bool names_npy_columns(std::string_view text) {
  return text.ends_with(kSuffix);
}

NpyColumns::NpyColumns(std::string_view text, const layout::Schema& schema) : text_(text) {
  for (const std::string_view part : parts_of(text)) {
    const auto [name, path] = named_file(part);
    const std::size_t column = require_column(schema, name);
    if (std::find(columns_.begin(), columns_.end(), column) != columns_.end()) {
      throw Error("'{}': column '{}' is there twice", text, name);
    }
    columns_.push_back(column);
    files_.push_back(std::make_unique<File>(path, schema[column]));
    rows_ = files_.front()->rows();
    if (files_.back()->rows() == rows_) continue;
    throw Error("'{}' has {} rows, and '{}' has {}: each file has all rows, in order",
                files_.front()->path(), rows_, path, files_.back()->rows());
  }
}

NpyColumns::~NpyColumns() = default;

std::string NpyColumns::place() const {
  return fmt::format("'{}', row {}", text_, read_ - 1);
}

bool NpyColumns::next(std::span<Value> values) {
  if (read_ == rows_) return false;
  for (std::size_t i = 0; i < files_.size(); ++i) values[i] = files_[i]->value(read_);
  ++read_;
  return true;
}

}  // namespace farvec::indexing
