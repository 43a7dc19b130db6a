#include "python/arrow_places.h"

#include <string_view>

namespace farvec::python {
namespace {

/// Reads an integer. One that has no room in 64 bits with a sign is negative then, and no place.
template <typename T>
std::int64_t integer(const ArrowCells& cells, std::size_t row) {
  return static_cast<std::int64_t>(cells.number<T>(row));
}

ArrowRows values_of(const ArrowRows& rows, const layout::Column& column) {
  const bool is_there = rows.schema.dictionary != nullptr && rows.array.dictionary != nullptr &&
                        rows.schema.dictionary->dictionary == nullptr;
  if (!is_there) refuse_array(column, "has no dictionary of values");
  return {*rows.schema.dictionary, *rows.array.dictionary, 0, rows.array.dictionary->length};
}

}  // namespace

ArrowPlaces::ReadPlace ArrowPlaces::reader_of(const ArrowRows& rows, const layout::Column& column) {
  const std::string_view format = rows.schema.format;
  switch (format.size() == 1 ? format[0] : '\0') {
    case 'c':
      return integer<std::int8_t>;
    case 'C':
      return integer<std::uint8_t>;
    case 's':
      return integer<std::int16_t>;
    case 'S':
      return integer<std::uint16_t>;
    case 'i':
      return integer<std::int32_t>;
    case 'I':
      return integer<std::uint32_t>;
    case 'l':
      return integer<std::int64_t>;
    case 'L':
      return integer<std::uint64_t>;
    default:
      refuse_array(column, "has places in a dictionary that are no integers");
  }
}

ArrowPlaces::ArrowPlaces(const ArrowRows& rows, const layout::Column& column)
    : cells_(rows, 2, column), read_(reader_of(rows, column)), values_(values_of(rows, column)) {}

}  // namespace farvec::python
