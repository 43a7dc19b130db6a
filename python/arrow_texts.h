// arrow_texts() reads the strings, or the bytes, of an Arrow array.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

#include "layout/attributes/schema.h"
#include "python/arrow_cells.h"

namespace farvec::python {

/// The texts of rows, which may be null. They live as long as the array.
using ReadText = std::function<std::optional<std::string_view>(std::size_t row)>;

/// Says whether an array of this format is one of strings, or of bytes.
bool is_arrow_string(std::string_view format);
bool is_arrow_bytes(std::string_view format);
/// Says whether an array of this schema is one of strings, or of places in a dictionary of strings.
bool holds_arrow_strings(const ArrowSchema& schema);

/// Returns a reader for one of these formats, or of what a dictionary of one has. Throws what
/// ArrowCells throws, and so does the reader where a text ends after its buffer.
ReadText arrow_texts(const ArrowRows& rows, const layout::Column& column);

}  // namespace farvec::python
