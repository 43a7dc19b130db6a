#include "base/row_set.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/random.h"

namespace farvec {
namespace {

constexpr std::uint64_t kRows = 3 * RowSet::kBlockRows + 17;

std::vector<NodeId> random_rows(Random& random, std::size_t count) {
  std::vector<NodeId> rows(count);
  for (NodeId& row : rows) row = static_cast<NodeId>(random.below(kRows));
  return rows;
}

void expect_same(const RowSet& set, const std::set<NodeId>& expected) {
  EXPECT_EQ(set.count(), expected.size());
  EXPECT_EQ(set.empty(), expected.empty());
  for (NodeId row = 0; row < kRows + 100; ++row) {
    ASSERT_EQ(set.contains(row), expected.contains(row)) << row;
  }
}

TEST(RowSet, HoldsNothingAtFirst) {
  expect_same(RowSet(), {});
  EXPECT_EQ(RowSet().to_words(0), std::vector<std::uint64_t>());
}

TEST(RowSet, EverySetStaysAsItWas) {
  Random random(1);
  std::vector<RowSet> sets{RowSet()};
  std::vector<std::set<NodeId>> expected{{}};
  for (const std::size_t count : {1, 0, 7, 1000, 30'000, 3}) {
    std::vector<NodeId> rows = random_rows(random, count);
    rows.insert(rows.end(), rows.begin(), rows.begin() + static_cast<long>(count / 2));
    sets.push_back(sets.back().with(rows));
    expected.push_back(expected.back());
    expected.back().insert(rows.begin(), rows.end());
  }
  for (std::size_t i = 0; i < sets.size(); ++i) expect_same(sets[i], expected[i]);
}

TEST(RowSet, BitsComeBack) {
  Random random(2);
  std::vector<NodeId> rows = random_rows(random, 500);
  rows.push_back(kRows - 1);
  const RowSet set = RowSet().with(rows);
  const std::vector<std::uint64_t> words = set.to_words(kRows);
  EXPECT_EQ(words.size(), (kRows + 63) / 64);
  expect_same(RowSet::from_words(words), {rows.begin(), rows.end()});
  EXPECT_EQ(RowSet::from_words(words).to_words(kRows), words);
}

TEST(RowSet, OneBlockIsAsGoodAsMany) {
  const RowSet set = RowSet().with(std::vector<NodeId>{0, 63, 64, 5});
  EXPECT_EQ(set.to_words(65), (std::vector<std::uint64_t>{(1ull << 63) | 33, 1}));
  EXPECT_EQ(set.dram_bytes() >= sizeof(RowSet::Block), true);
}

TEST(RowSetDeathTest, RefusesToLoseRows) {
  const RowSet set = RowSet().with(std::vector<NodeId>{128});
  EXPECT_DEATH((void)set.to_words(128), "after the last");
}

TEST(RowSet, TellsWhatCameSince) {
  Random random(9);
  RowSet before;
  for (int step = 0; step < 20; ++step) {
    const std::vector<NodeId> rows = random_rows(random, step % 4 == 0 ? 0 : random.below(300));
    const RowSet after = before.with(rows);
    std::set<NodeId> expected(rows.begin(), rows.end());
    std::erase_if(expected, [&](NodeId row) { return before.contains(row); });
    EXPECT_EQ(after.rows_beyond(before), std::vector<NodeId>(expected.begin(), expected.end()));
    EXPECT_TRUE(before.rows_beyond(after).empty());
    EXPECT_EQ(after.rows_beyond({}).size(), after.count());
    before = after;
  }
}

}  // namespace
}  // namespace farvec
