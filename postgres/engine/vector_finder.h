// A VectorFinder finds the row of a collection that has a vector, by a hash, and first of all one
// that has the same values too.
#pragma once

#include "base/clock.h"
#include "collection/state/view.h"
#include "postgres/engine/flat_map.h"
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace farvec::postgres {

/// It knows one row of each hash, which may be out by now, or have another vector or other values:
/// the caller compares. Vectors are in stored form. For one thread at a time.
class VectorFinder {
 public:
  /// Finds rows of this view, once advance() has looked at them, and those that are added.
  VectorFinder(collection::ViewPointer view, std::size_t row_bytes);

  /// Looks at this many more rows of the view, and may take `more_bytes` of memory: where that is
  /// not enough, the others are missing until it is. Throws Error naming a file that cannot be
  /// read.
  void advance(std::size_t rows, std::size_t more_bytes);
  /// Adds a row, in place of a former one with the same.
  void add(std::span<const std::byte> vector, std::span<const std::byte> tuple, std::uint64_t id,
           std::size_t more_bytes);
  /// Returns a row with the vector and the tuple. An empty tuple: with the vector, whatever its
  /// values are.
  std::optional<std::uint64_t> find(std::span<const std::byte> vector,
                                    std::span<const std::byte> tuple) const;

  /// Returns how many rows it knows, with those that are out since.
  std::size_t size() const { return ids_.size() / keys_per_row(); }
  std::size_t bytes() const { return ids_.bytes(); }

 private:
  bool look_at(const collection::RowPlace& place, std::uint64_t id);
  std::size_t keys_per_row() const { return has_columns_ ? 2 : 1; }

  collection::ViewPointer view_;  ///< null: all rows were looked at
  const bool has_columns_;
  const std::size_t row_bytes_;
  std::size_t part_ = 0;  ///< a memtable, or a segment after all of these
  NodeId row_ = 0;
  FlatMap<std::uint64_t> ids_;  ///< the keys are hashes
  std::vector<std::byte> vector_;
};

/// Copies a row's vector in stored form. Returns false where a segment's file takes longer than a
/// minute. Throws Error naming the file.
bool read_stored(const collection::RowPlace& place, std::span<std::byte> out);

}  // namespace farvec::postgres
