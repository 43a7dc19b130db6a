// MemtableAttributes hold the tuples of the rows of a memtable.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/memory.h"
#include "base/types.h"
#include "layout/attributes/tuple.h"

namespace farvec::collection {

/// One thread puts tuples, and any number of threads read those of rows that were published, as
/// they do with the rows of a memtable. A tuple stays where it is.
class MemtableAttributes {
 public:
  /// Memory for the tuples themselves comes in pieces, when they do.
  explicit MemtableAttributes(std::uint32_t capacity);

  /// Copies a tuple for each of `rows` rows from `first` on; without tuples they are null. Throws
  /// std::bad_alloc, and then put() may be called again for the same rows.
  void put(NodeId first, std::size_t rows, const layout::TupleView& tuples);
  /// Returns the tuple of a row; all its values are null where none was put.
  std::span<const std::byte> row(NodeId row) const;

  /// Returns the memory that the tuples of the first `rows` rows take. Any thread may call it.
  std::size_t dram_bytes(std::size_t rows) const {
    return places_.bytes_taken(rows * sizeof(const std::byte*)) +
           piece_bytes_.load(std::memory_order_relaxed);
  }

 private:
  std::byte* room_for(std::size_t bytes);
  const std::byte* copy_of(std::span<const std::byte> tuple);

  HugeBuffer places_;  ///< where the tuple of each row is: its length, and then its bytes
  std::vector<std::unique_ptr<std::byte[]>> pieces_;
  std::atomic<std::size_t> piece_bytes_{0};  ///< bytes of all pieces
  std::size_t last_ = 0;                     ///< bytes of the last piece
  std::size_t left_ = 0;                     ///< those at its end that are not used
};

}  // namespace farvec::collection
