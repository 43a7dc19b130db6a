// A RowSet says which rows of an index are out. Readers hold one set while a writer makes the next
// one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/types.h"

namespace farvec {

/// A RowSet is a value that never changes: with() makes another set, which shares with this one all
/// blocks of kBlockRows rows that it does not add to. Copies cost a pointer for every block.
/// Threads may read one set, and make others of it, at the same time.
class RowSet {
 public:
  static constexpr std::uint32_t kBlockRows = 1u << 15;
  static constexpr std::uint32_t kWordBits = 64;
  using Block = std::array<std::uint64_t, kBlockRows / kWordBits>;

  RowSet() = default;

  bool contains(NodeId row) const {
    const std::size_t block = row / kBlockRows;
    if (block >= blocks_.size() || blocks_[block] == nullptr) return false;
    return ((*blocks_[block])[row % kBlockRows / kWordBits] >> (row % kWordBits) & 1) != 0;
  }

  /// Returns the number of rows in the set.
  std::uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }

  /// Returns a set of this one's rows and of `rows`, which may repeat and may already be in it.
  RowSet with(std::span<const NodeId> rows) const;

  /// Rows of this set that are not in `before`, ascending. Blocks that the two sets share cost
  /// nothing.
  std::vector<NodeId> rows_beyond(const RowSet& before) const;

  /// Bit r % 64 of word r / 64 belongs to row r. Files use the same form.
  static RowSet from_words(std::span<const std::uint64_t> words);
  /// Returns the bits of `rows` rows; the set has no row after them. The unused bits of the last
  /// word are zero.
  std::vector<std::uint64_t> to_words(std::uint64_t rows) const;

  /// Returns the bytes of the blocks, shared ones included.
  std::size_t dram_bytes() const;

 private:
  std::vector<std::shared_ptr<const Block>> blocks_;  ///< null: none of its rows is in the set
  std::uint64_t count_ = 0;
};

/// Says how many of an index's `rows` rows are not in `out`, whose rows are all the index's; null:
/// all.
inline std::uint64_t rows_left(std::uint64_t rows, const RowSet* out) {
  return out == nullptr ? rows : rows - std::min(rows, out->count());
}

}  // namespace farvec
