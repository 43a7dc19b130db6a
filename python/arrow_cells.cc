#include "python/arrow_cells.h"

#include <limits>

#include "base/error.h"

namespace farvec::python {
namespace {

/// Sums and products of lengths up to here fit 64 bits.
constexpr std::int64_t kMostLength = std::numeric_limits<std::int64_t>::max() / 64;

bool is_length(std::int64_t number) {
  return number >= 0 && number <= kMostLength;
}

bool has_rows(const ArrowRows& rows) {
  return is_length(rows.array.length) && is_length(rows.array.offset) && is_length(rows.first) &&
         is_length(rows.count) && rows.first + rows.count <= rows.array.length;
}

}  // namespace

void refuse_array(const layout::Column& column, std::string_view what) {
  throw Error("column '{}': its Arrow array {}", column.name, what);
}

ArrowCells::ArrowCells(const ArrowRows& rows, std::int64_t buffers, const layout::Column& column)
    : array_(&rows.array), column_(&column) {
  if (!has_rows(rows)) refuse_array(column, "has a length or an offset that cannot be");
  if (array_->n_buffers < buffers || (buffers > 0 && array_->buffers == nullptr)) {
    refuse_array(column, "lacks buffers");
  }
  // The text of strings may be null where all are empty.
  if (buffers > 1 && rows.count > 0 && buffer(1) == nullptr) {
    refuse_array(column, "lacks a buffer");
  }
  has_nulls_ = buffers > 0 && buffer(0) != nullptr;
  first_ = static_cast<std::size_t>(array_->offset + rows.first);
}

}  // namespace farvec::python
