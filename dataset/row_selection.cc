#include "dataset/row_selection.h"

#include "base/error.h"
#include "base/random.h"

namespace farvec::dataset {

std::vector<NodeId> sample_rows(std::uint64_t count, std::uint64_t amount, std::uint64_t seed) {
  if (amount > count) throw Error("a sample of {} rows was asked for, there are {}", amount, count);
  std::vector<NodeId> rows;
  rows.reserve(amount);
  Random random(seed);
  for (std::uint64_t row = 0; rows.size() < amount; ++row) {
    if (random.below(count - row) < amount - rows.size()) rows.push_back(static_cast<NodeId>(row));
  }
  return rows;
}

std::vector<RowRange> join_rows(const std::vector<NodeId>& ascending, std::uint64_t longest) {
  std::vector<RowRange> ranges;
  for (const std::uint64_t row : ascending) {
    if (!ranges.empty() && ranges.back().end == row && ranges.back().size() < longest) {
      ++ranges.back().end;
    } else {
      ranges.push_back({row, row + 1});
    }
  }
  return ranges;
}

}  // namespace farvec::dataset
