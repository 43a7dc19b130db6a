#include "python/arrow_values.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/timestamp.h"
#include "indexing/attributes/exact_value.h"
#include "python/arrow_places.h"
#include "python/arrow_texts.h"

namespace farvec::python {
namespace {

using indexing::exact_value;
using layout::Column;
using layout::ColumnType;
using layout::Value;

/// Reads what is not null.
template <typename Read>
ReadValue arrow_cell_values(const ArrowCells& cells, const Read& read) {
  return [cells, read](std::size_t row) { return cells.is_null(row) ? Value() : read(cells, row); };
}

/// Reads numbers of type T, as the exact type Wide.
template <typename T, typename Wide>
ReadValue numbers(const ArrowRows& rows, const Column& column) {
  return arrow_cell_values(
      ArrowCells(rows, 2, column), [](const ArrowCells& cells, std::size_t row) {
        return exact_value(static_cast<Wide>(cells.number<T>(row)), cells.column());
      });
}

/// Returns the number that a half-precision float is.
double half_number(std::uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int digits = half & 1023;
  double number =
      exponent == 0 ? std::ldexp(digits, -24) : std::ldexp(digits + 1024, exponent - 25);
  if (exponent == 31) number = digits == 0 ? HUGE_VAL : std::nan("");
  return (half & 0x8000) != 0 ? -number : number;
}

ReadValue halves(const ArrowRows& rows, const Column& column) {
  return arrow_cell_values(
      ArrowCells(rows, 2, column), [](const ArrowCells& cells, std::size_t row) {
        return exact_value(half_number(cells.number<std::uint16_t>(row)), cells.column());
      });
}

ReadValue truths(const ArrowRows& rows, const Column& column) {
  return arrow_cell_values(ArrowCells(rows, 2, column),
                           [](const ArrowCells& cells, std::size_t row) {
                             return exact_value(cells.truth(row), cells.column());
                           });
}

/// Returns the microseconds of a time in units of which a second has `per_second`.
Value time_value_of(std::int64_t time, std::int64_t per_second, const Column& column) {
  constexpr std::int64_t kMicroseconds = 1'000'000;
  if (column.type != ColumnType::timestamp) indexing::refuse_value(column, "a timestamp");
  const std::int64_t divisor = per_second > kMicroseconds ? per_second / kMicroseconds : 1;
  const std::int64_t factor = per_second > kMicroseconds ? 1 : kMicroseconds / per_second;
  if (time % divisor != 0) {
    throw Error(
        "column '{}' is timestamp, in microseconds, and the value has nanoseconds: round it",
        column.name);
  }
  const std::int64_t whole = time / divisor;
  if (whole < kLeastTimestamp / factor || whole > kMostTimestamp / factor) {
    throw Error("column '{}' is timestamp, and the value is out of the years 0001 to 9999",
                column.name);
  }
  return whole * factor;
}

ReadValue times(const ArrowRows& rows, std::int64_t per_second, const Column& column) {
  return arrow_cell_values(
      ArrowCells(rows, 2, column), [per_second](const ArrowCells& cells, std::size_t row) {
        return time_value_of(cells.number<std::int64_t>(row), per_second, cells.column());
      });
}

ReadValue dates(const ArrowRows& rows, const Column& column) {
  constexpr std::int64_t kDaySeconds = 86'400;
  return arrow_cell_values(
      ArrowCells(rows, 2, column), [](const ArrowCells& cells, std::size_t row) {
        return time_value_of(cells.number<std::int32_t>(row) * kDaySeconds, 1, cells.column());
      });
}

ReadValue texts(const ArrowRows& rows, const Column& column) {
  if (is_arrow_bytes(rows.schema.format) && column.type != ColumnType::bytes) {
    indexing::refuse_value(column, "bytes");
  }
  return [read = arrow_texts(rows, column), &column](std::size_t row) {
    const auto text = read(row);
    return text ? exact_value(std::string(*text), column) : Value();
  };
}

/// Reads the texts of a list.
Value labels_of(const ReadText& read, std::pair<std::int64_t, std::int64_t> span,
                const Column& column) {
  std::vector<std::string> labels;
  for (std::int64_t at = span.first; at < span.second; ++at) {
    const auto label = read(static_cast<std::size_t>(at));
    if (!label) throw Error("a label of column '{}' is null: labels are str", column.name);
    labels.emplace_back(*label);
  }
  return labels;
}

template <typename Offset>
ReadValue lists(const ArrowRows& rows, const Column& column) {
  if (column.type != ColumnType::set) indexing::refuse_value(column, "a list");
  const ArrowCells cells(rows, 2, column);
  const bool has_child = rows.array.n_children == 1 && rows.array.children != nullptr &&
                         rows.schema.n_children == 1 && rows.schema.children != nullptr;
  if (!has_child) refuse_array(column, "is a list without elements");
  const ArrowSchema& schema = *rows.schema.children[0];
  const ArrowArray& array = *rows.array.children[0];
  if (!holds_arrow_strings(schema)) refuse_array(column, "is a list of what is not str");
  const std::int64_t most = array.length;
  return arrow_cell_values(cells, [read = arrow_texts({schema, array, 0, most}, column), most](
                                      const ArrowCells& in, std::size_t row) {
    const auto span = in.span<Offset>(row);
    if (span.second > most) refuse_array(in.column(), "has a list that ends after its elements");
    return labels_of(read, span, in.column());
  });
}

/// Reads what a dictionary has at the places that the array's integers are.
ReadValue dictionary_values(const ArrowRows& rows, const Column& column) {
  const ArrowPlaces places(rows, column);
  return [places, values = arrow_values(places.values(), column)](std::size_t row) {
    const auto place = places(row);
    return place ? values(*place) : Value();
  };
}

/// Returns an empty reader unless the array is one of integers.
ReadValue integer_values(const ArrowRows& rows, const Column& column) {
  const std::string_view format = rows.schema.format;
  switch (format.size() == 1 ? format[0] : '\0') {
    case 'c':
      return numbers<std::int8_t, std::int64_t>(rows, column);
    case 'C':
      return numbers<std::uint8_t, std::uint64_t>(rows, column);
    case 's':
      return numbers<std::int16_t, std::int64_t>(rows, column);
    case 'S':
      return numbers<std::uint16_t, std::uint64_t>(rows, column);
    case 'i':
      return numbers<std::int32_t, std::int64_t>(rows, column);
    case 'I':
      return numbers<std::uint32_t, std::uint64_t>(rows, column);
    case 'l':
      return numbers<std::int64_t, std::int64_t>(rows, column);
    case 'L':
      return numbers<std::uint64_t, std::uint64_t>(rows, column);
    default:
      return {};
  }
}

/// Returns an empty reader unless the array is one of times.
ReadValue time_values(const ArrowRows& rows, const Column& column) {
  const std::string_view format = rows.schema.format;
  if (format == "tdD") return dates(rows, column);
  if (format == "tdm" || format.starts_with("tsm:")) return times(rows, 1'000, column);
  if (format.starts_with("tss:")) return times(rows, 1, column);
  if (format.starts_with("tsu:")) return times(rows, 1'000'000, column);
  if (format.starts_with("tsn:")) return times(rows, 1'000'000'000, column);
  return {};
}

}  // namespace

ReadValue arrow_values(const ArrowRows& rows, const Column& column) {
  if (rows.schema.format == nullptr) refuse_array(column, "has no format");
  (void)ArrowCells(rows, 0, column);  // its lengths, also where it has no buffers
  const std::string_view format = rows.schema.format;
  if (rows.schema.dictionary != nullptr) return dictionary_values(rows, column);
  if (ReadValue read = integer_values(rows, column)) return read;
  if (ReadValue read = time_values(rows, column)) return read;
  if (is_arrow_string(format) || is_arrow_bytes(format)) return texts(rows, column);
  if (format == "e") return halves(rows, column);
  if (format == "f") return numbers<float, double>(rows, column);
  if (format == "g") return numbers<double, double>(rows, column);
  if (format == "b") return truths(rows, column);
  if (format == "+l") return lists<std::int32_t>(rows, column);
  if (format == "+L") return lists<std::int64_t>(rows, column);
  if (format == "n") return [](std::size_t) { return Value(); };
  refuse_array(column, fmt::format("has the format {}, which no column takes: cast it",
                                   indexing::shown_text(format)));
}

}  // namespace farvec::python
