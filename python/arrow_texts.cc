#include "python/arrow_texts.h"

#include <cstdint>

#include "python/arrow_places.h"

namespace farvec::python {
namespace {

std::string_view text_at(const std::byte* begin, std::int64_t bytes) {
  if (bytes == 0) return {};
  return {reinterpret_cast<const char*>(begin), static_cast<std::size_t>(bytes)};
}

/// Reads texts that follow each other in one buffer.
template <typename Offset>
std::string_view joined_text(const ArrowCells& cells, std::size_t row) {
  const auto [begin, end] = cells.span<Offset>(row);
  if (cells.buffer(2) == nullptr && end > begin) refuse_array(cells.column(), "lacks a buffer");
  return text_at(cells.buffer(2) + begin, end - begin);
}

/// Returns a text that does not lie in its view, which says in which buffer it does, and where. The
/// array's last buffer has the lengths of those that have texts.
std::string_view text_elsewhere(const ArrowCells& cells, const std::byte* view,
                                std::int64_t length) {
  const auto number = load_unaligned<std::int32_t>(view + 8);
  const auto begin = load_unaligned<std::int32_t>(view + 12);
  const std::int64_t last = cells.buffers() - 1;
  const bool is_there = number >= 0 && 2 + std::int64_t{number} < last &&
                        cells.buffer(last) != nullptr && cells.buffer(2 + number) != nullptr;
  if (!is_there) refuse_array(cells.column(), "has a text in a buffer that is not there");
  const auto bytes = load_unaligned<std::int64_t>(
      cells.buffer(last) + sizeof(std::int64_t) * static_cast<std::size_t>(number));
  if (begin < 0 || begin + length > bytes) {
    refuse_array(cells.column(), "has a text that ends after its buffer");
  }
  return text_at(cells.buffer(2 + number) + begin, length);
}

/// Reads a text that has a view of 16 bytes: its length, and then itself where it is short.
std::string_view viewed_text(const ArrowCells& cells, std::size_t row) {
  constexpr std::size_t kViewBytes = 16;
  constexpr std::int64_t kMostInView = 12;
  const std::byte* const view = cells.place(row, kViewBytes);
  const std::int64_t length = load_unaligned<std::int32_t>(view);
  if (length < 0) refuse_array(cells.column(), "has a text of negative length");
  if (length <= kMostInView) return text_at(view + 4, length);
  return text_elsewhere(cells, view, length);
}

template <typename Read>
ReadText texts_of(const ArrowCells& cells, const Read& read) {
  return [cells, read](std::size_t row) -> std::optional<std::string_view> {
    if (cells.is_null(row)) return std::nullopt;
    return read(cells, row);
  };
}

ReadText dictionary_texts(const ArrowRows& rows, const layout::Column& column) {
  const ArrowPlaces places(rows, column);
  return [places, texts = arrow_texts(places.values(), column)](
             std::size_t row) -> std::optional<std::string_view> {
    const auto place = places(row);
    return place ? texts(*place) : std::nullopt;
  };
}

}  // namespace

bool is_arrow_string(std::string_view format) {
  return format == "u" || format == "U" || format == "vu";
}

bool is_arrow_bytes(std::string_view format) {
  return format == "z" || format == "Z" || format == "vz";
}

bool holds_arrow_strings(const ArrowSchema& schema) {
  const ArrowSchema& texts = schema.dictionary != nullptr ? *schema.dictionary : schema;
  return schema.format != nullptr && texts.format != nullptr && is_arrow_string(texts.format);
}

ReadText arrow_texts(const ArrowRows& rows, const layout::Column& column) {
  if (rows.schema.dictionary != nullptr) return dictionary_texts(rows, column);
  const ArrowCells cells(rows, 3, column);
  switch (rows.schema.format[0]) {
    case 'u':
    case 'z':
      return texts_of(cells, joined_text<std::int32_t>);
    case 'U':
    case 'Z':
      return texts_of(cells, joined_text<std::int64_t>);
    default:
      return texts_of(cells, viewed_text);
  }
}

}  // namespace farvec::python
