// ArrowCells gives checked access to the buffers of one array of an Arrow batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/memory.h"
#include "layout/attributes/schema.h"
#include "python/arrow_abi.h"

namespace farvec::python {

/// Some rows of an array. `first` is counted without the array's own offset.
struct ArrowRows {
  const ArrowSchema& schema;
  const ArrowArray& array;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Throws Error: "column 'price': its Arrow array lacks a buffer".
[[noreturn]] void refuse_array(const layout::Column& column, std::string_view what);

/// Counts rows from the first of ArrowRows. The interface does not say how long buffers are: a
/// producer is trusted to have as much in them as its lengths and offsets say, and these are
/// checked against each other. The array and the column have to outlive it.
class ArrowCells {
 public:
  /// `buffers` is how many the array has to have, the bits of nulls among them. Throws Error for
  /// lengths, offsets and buffers that cannot be.
  ArrowCells(const ArrowRows& rows, std::int64_t buffers, const layout::Column& column);

  const layout::Column& column() const { return *column_; }
  std::int64_t buffers() const { return array_->n_buffers; }
  /// Returns a buffer, which may be null.
  const std::byte* buffer(std::int64_t number) const {
    return static_cast<const std::byte*>(array_->buffers[number]);
  }
  bool is_null(std::size_t row) const { return has_nulls_ && !bit(0, row); }
  /// Returns the row's bit in the first buffer after the nulls.
  bool truth(std::size_t row) const { return bit(1, row); }
  /// Returns where the row's `bytes` begin in that buffer.
  const std::byte* place(std::size_t row, std::size_t bytes) const {
    return buffer(1) + (first_ + row) * bytes;
  }
  template <typename T>
  T number(std::size_t row) const {
    return load_unaligned<T>(place(row, sizeof(T)));
  }
  /// Returns where what the row has in another buffer or array begins and ends. Throws Error unless
  /// the one comes before the other.
  template <typename Offset>
  std::pair<std::int64_t, std::int64_t> span(std::size_t row) const {
    const std::int64_t begin = number<Offset>(row);
    const std::int64_t end = number<Offset>(row + 1);
    if (begin < 0 || end < begin) refuse_array(*column_, "has offsets that go back");
    return {begin, end};
  }

 private:
  bool bit(std::int64_t number, std::size_t row) const {
    const std::size_t at = first_ + row;
    return (std::to_integer<unsigned>(buffer(number)[at / 8]) >> (at % 8) & 1) != 0;
  }

  const ArrowArray* array_;
  const layout::Column* column_;
  bool has_nulls_ = false;
  std::size_t first_ = 0;
};

}  // namespace farvec::python
