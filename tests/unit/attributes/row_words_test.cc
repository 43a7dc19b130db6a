#include "attributes/row_words.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace farvec::attributes {
namespace {

void expect_same(const RowBitmap& rows, std::size_t count) {
  std::vector<NodeId> list{1, 2, 3};
  list_rows(rows, list);
  EXPECT_EQ(list, std::vector<NodeId>(rows.begin(), rows.end()));
  std::vector<std::uint64_t> expected((count + 63) / 64);
  for (const std::uint32_t row : rows) expected[row / 64] |= std::uint64_t{1} << (row % 64);
  EXPECT_EQ(words_of(rows, count), expected);
}

/// In each form: as it was made, and with runs where these are smaller.
void expect_same_in_all_forms(RowBitmap rows, std::size_t count) {
  expect_same(rows, count);
  rows.runOptimize();
  expect_same(rows, count);
}

TEST(RowWords, AreTheRowsOfTheBitmap) {
  Random random(7);
  for (const std::size_t count : {1, 63, 64, 65, 65'535, 65'536, 65'537, 400'000, 1'000'003}) {
    expect_same_in_all_forms({}, count);
    RowBitmap ends;
    ends.add(0);
    ends.add(static_cast<std::uint32_t>(count - 1));
    expect_same_in_all_forms(ends, count);
    RowBitmap all;
    all.addRange(0, count);
    expect_same_in_all_forms(all, count);
    for (const std::size_t one_of : {2, 15, 17, 300, 50'000}) {  // bitsets, lists, few containers
      RowBitmap rows;
      for (std::uint32_t row = 0; row < count; ++row) {
        if (random.below(one_of) == 0) rows.add(row);
      }
      expect_same_in_all_forms(rows, count);
      rows.flip(count / 3, count / 2);
      expect_same_in_all_forms(rows, count);
    }
    RowBitmap runs;
    for (std::uint32_t row = 0; row < count; row += 700) {
      runs.addRange(row, std::min<std::uint64_t>(count, row + 1 + random.below(690)));
    }
    expect_same_in_all_forms(runs, count);
  }
}

/// As many containers as have no table of their places where some are of runs, one less, one more.
TEST(RowWords, FromAnyNumberOfContainers) {
  for (std::uint32_t containers = 1; containers < 7; ++containers) {
    RowBitmap rows;
    for (std::uint32_t i = 0; i < containers; ++i) {
      const std::uint32_t begin = 2 * i * kContainerRows;  // every second one has rows
      if (i % 2 == 0) {
        rows.addRange(begin + 10, begin + 9'000);
      } else {
        rows.add(begin + i);
      }
    }
    expect_same_in_all_forms(rows, std::size_t{2} * containers * kContainerRows);
  }
}

}  // namespace
}  // namespace farvec::attributes
