#include "dataset/row_selection.h"

#include <gmock/gmock.h>

#include "tests/unit/dataset/test_files.h"

namespace farvec::dataset {
namespace {

using ::testing::HasSubstr;

TEST(SampleRows, AreDistinctAscendingAndRepeatable) {
  const auto rows = sample_rows(1000, 100, 7);
  EXPECT_EQ(rows.size(), 100u);
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end(), std::less_equal<>()));
  EXPECT_LT(rows.back(), 1000u);
  EXPECT_EQ(rows, sample_rows(1000, 100, 7));
  EXPECT_NE(rows, sample_rows(1000, 100, 8));
}

TEST(SampleRows, TakeAllOrNone) {
  EXPECT_EQ(sample_rows(5, 5, 1), (std::vector<NodeId>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(sample_rows(5, 0, 1).empty());
  EXPECT_THAT(message_of([] { sample_rows(5, 6, 1); }), HasSubstr("6 rows was asked for"));
}

TEST(SampleRows, AreUniform) {
  std::vector<int> hits(10);
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    for (const NodeId row : sample_rows(10, 3, seed)) ++hits[row];
  }
  // 3,000 expected each; the standard deviation is 46.
  for (const int count : hits) EXPECT_NEAR(count, 3000, 280);
}

TEST(JoinRows, JoinsNeighboursUpToTheLongest) {
  const auto ranges = join_rows({1, 2, 3, 5, 8, 9}, 2);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
  for (const auto& range : ranges) pairs.emplace_back(range.begin, range.end);
  EXPECT_EQ(pairs, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{
                       {1, 3}, {3, 4}, {5, 6}, {8, 10}}));
}

}  // namespace
}  // namespace farvec::dataset
