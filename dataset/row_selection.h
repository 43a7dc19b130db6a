// Selects rows of a file: a range, or a seeded uniform sample.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"

namespace farvec::dataset {

/// A RowRange has the consecutive rows [begin, end).
struct RowRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const { return end - begin; }
};

/// Chooses `amount` of `count` rows, each subset equally likely, in ascending order, the same for
/// the same seed. Throws Error when amount > count. Takes time proportional to `count` and memory
/// proportional to `amount`. (Knuth, The Art of Computer Programming 2, algorithm 3.4.2 S.)
std::vector<NodeId> sample_rows(std::uint64_t count, std::uint64_t amount, std::uint64_t seed);

/// Joins neighbouring rows to ranges of at most `longest` rows.
std::vector<RowRange> join_rows(const std::vector<NodeId>& ascending, std::uint64_t longest);

}  // namespace farvec::dataset
