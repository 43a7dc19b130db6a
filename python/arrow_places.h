// ArrowPlaces say where in a dictionary an Arrow array has the values of its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "layout/attributes/schema.h"
#include "python/arrow_cells.h"

namespace farvec::python {

/// The array and the column have to outlive it.
class ArrowPlaces {
 public:
  /// Takes rows of an array whose schema has a dictionary. Throws Error naming the column: the
  /// array has none, or its places are no integers, and what ArrowCells throws.
  ArrowPlaces(const ArrowRows& rows, const layout::Column& column);

  /// Returns the row's place; nothing for null. Throws Error for a place out of the dictionary.
  std::optional<std::size_t> operator()(std::size_t row) const {
    if (cells_.is_null(row)) return std::nullopt;
    const std::int64_t place = read_(cells_, row);
    if (place < 0 || place >= values_.count) {
      refuse_array(cells_.column(), "has a place out of its dictionary");
    }
    return static_cast<std::size_t>(place);
  }
  /// Returns the values of the dictionary, which has no dictionary of its own.
  const ArrowRows& values() const { return values_; }

 private:
  using ReadPlace = std::int64_t (*)(const ArrowCells& cells, std::size_t row);
  static ReadPlace reader_of(const ArrowRows& rows, const layout::Column& column);

  ArrowCells cells_;
  ReadPlace read_;
  ArrowRows values_;
};

}  // namespace farvec::python
