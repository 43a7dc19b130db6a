// A TupleSource reads the tuples of the rows of a segment or an index from where they lie.
#pragma once

#include <cstddef>
#include <vector>

#include "base/types.h"
#include "layout/attributes/schema.h"
#include "layout/attributes/tuple.h"

namespace farvec::layout {

/// Immutable, and threads share it. `schema` is that which the rows had when they were written, or
/// a later one.
class TupleSource {
 public:
  virtual ~TupleSource() = default;

  /// Returns the tuples of all rows. Throws Error saying where they are damaged, or do not fit the
  /// schema.
  virtual Tuples read(const Schema& schema) const = 0;
  /// Returns the tuple of one row, which must exist. It may wait for a disk or for a memory node.
  /// Throws Error when it cannot be read, or is not sound.
  virtual std::vector<std::byte> read_row(NodeId row, const Schema& schema) const = 0;
  /// Returns what it keeps in DRAM.
  virtual std::size_t dram_bytes() const { return 0; }
};

}  // namespace farvec::layout
