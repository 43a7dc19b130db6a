// UpdatedTuples are the attributes of the rows of a memtable or a segment that were updated since
// the row came.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/types.h"
#include "layout/attributes/tuple.h"

namespace farvec::layout {

/// It is a value that never changes, as a RowSet is: with() makes another one, which shares with
/// this one all blocks of kBlockRows rows in which nothing is new. Threads may read one, and make
/// others of it, at the same time.
class UpdatedTuples {
 public:
  static constexpr std::uint32_t kBlockRows = 1u << 12;

  /// Returns the row's tuple, whole, which stays as long as this object does. It is empty where the
  /// row was not updated.
  std::span<const std::byte> find(NodeId row) const {
    if (row / kBlockRows >= blocks_.size() || blocks_[row / kBlockRows] == nullptr) return {};
    return find_in(*blocks_[row / kBlockRows], row);
  }
  /// Returns the number of rows that were updated.
  std::uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  /// Says whether this value was made from `before`, by with() once or more, and `before` has rows.
  /// Only the last of the values that were made from one may be used to make more.
  bool comes_after(const UpdatedTuples& before) const {
    return root_ != 0 && root_ == before.root_ && serial_ > before.serial_;
  }
  /// Returns these rows, ascending.
  std::vector<NodeId> rows() const;

  /// Returns these tuples and those of `rows`, each of which comes once; a row that is here already
  /// gets the new one. There is a whole tuple for each row.
  UpdatedTuples with(std::span<const NodeId> rows, const TupleView& tuples) const;
  /// Returns the rows whose tuples are not those of `before`, ascending. `before` is an earlier
  /// value, from which this one was made. Blocks that the two share cost nothing.
  std::vector<NodeId> rows_beyond(const UpdatedTuples& before) const;

  /// Returns the bytes of the blocks and the tuples, shared ones included.
  std::size_t dram_bytes() const;

 private:
  struct Entry {
    NodeId row = 0;
    std::uint32_t bytes = 0;
    std::shared_ptr<const std::byte[]> tuple;
  };
  using Block = std::vector<Entry>;  ///< ascending by row

  static std::span<const std::byte> find_in(const Block& block, NodeId row);
  static void put(Block& block, Entry entry, UpdatedTuples& into);

  std::vector<std::shared_ptr<const Block>> blocks_;  ///< null: none of its rows was updated
  std::uint64_t root_ = 0;    ///< the serial of the first value with rows that it was made from
  std::uint64_t serial_ = 0;  ///< differs from those of all others; 0 for one that has no rows
  std::uint64_t count_ = 0;
  std::uint64_t tuple_bytes_ = 0;
};

}  // namespace farvec::layout
