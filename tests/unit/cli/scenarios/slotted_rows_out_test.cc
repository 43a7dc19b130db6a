// Searches of slotted pages of which some rows are out.
#include <algorithm>

#include "base/row_set.h"
#include "tests/unit/cli/slotted_fixture.h"

namespace farvec::cli {
namespace {

constexpr SearchKind kSearchKinds[] = {SearchKind::best_first, SearchKind::beam,
                                       SearchKind::cache_aware};
constexpr PoolKind kPoolKinds[] = {PoolKind::none, PoolKind::record, PoolKind::page};

/// Each row with this probability.
RowSet rows_out(double share) {
  Random random(19);
  std::vector<NodeId> rows;
  for (NodeId row = 0; row < kCount; ++row) {
    if (random.uniform() < share) rows.push_back(row);
  }
  return RowSet().with(rows);
}

/// One record a hop, none of them out of a pool: the same search whatever its k.
SlottedSearchOptions plain(SlottedSearchOptions options) {
  options.pool = PoolKind::none;
  options.search = SearchKind::best_first;
  options.prefetch = false;
  options.slots = 1;
  options.k = kList;
  return options;
}

/// Its list has places for rows that are not out alone, so a search goes farther for them.
TEST_F(SlottedSearchTest, LeavesOutRowsThatAreOut) {
  const RowSet half = rows_out(0.5);
  const SlottedSearchOptions options = plain(this->options());
  const Queries all = run(*core(options), {.k = kList});
  const Queries left = run(*core(options), {.out = &half});
  ASSERT_EQ(left.count(StatusCode::ok), kQueries);
  EXPECT_GT(left.totals.hops, all.totals.hops);
  EXPECT_LE(left.totals.hops, kQueries * kCount) << "no vertex is read twice";
  std::size_t found_too = 0;
  for (std::size_t q = 0; q < kQueries; ++q) {
    std::vector<NodeId> expected;
    for (const NodeId id : all.found(q)) {
      if (!half.contains(id) && expected.size() < 10) expected.push_back(id);
    }
    ASSERT_EQ(expected.size(), 10u);
    const auto found = left.found(q);
    ASSERT_EQ(found.size(), 10u);
    for (const NodeId id : found) {
      EXPECT_FALSE(half.contains(id));
      found_too += std::find(expected.begin(), expected.end(), id) != expected.end() ? 1 : 0;
    }
  }
  EXPECT_GE(found_too, kQueries * 10 * 98 / 100);
}

TEST_F(SlottedSearchTest, LeavesThemOutInEverySearchAndPool) {
  const RowSet half = rows_out(0.5);
  const RowSet all = rows_out(2);
  for (const SearchKind search : kSearchKinds) {
    for (const PoolKind pool : kPoolKinds) {
      SlottedSearchOptions options = this->options(pool);
      options.search = search;
      const auto core = this->core(options);
      const Queries left = run(*core, {.out = &half});
      EXPECT_EQ(left.count(StatusCode::ok), kQueries);
      const Queries none = run(*core, {.out = &all});
      EXPECT_EQ(none.count(StatusCode::ok), kQueries);
      for (std::size_t q = 0; q < kQueries; ++q) {
        EXPECT_EQ(left.found(q).size(), 10u);
        for (const NodeId id : left.found(q)) EXPECT_FALSE(half.contains(id));
        EXPECT_TRUE(none.found(q).empty());
      }
    }
  }
}

/// Of the 30 nearest about three are left: others take their places.
TEST_F(SlottedSearchTest, AShortListFindsEnoughOfWhatIsLeft) {
  const RowSet most = rows_out(0.9);
  const auto core = this->core(options());
  const Queries left = run(*core, {.list = 30, .out = &most});
  EXPECT_EQ(left.count(StatusCode::ok), kQueries);
  for (std::size_t q = 0; q < kQueries; ++q) EXPECT_EQ(left.found(q).size(), 10u);
}

class RerankRowsOut : public SlottedSearchTest {
 protected:
  RerankRowsOut() : SlottedSearchTest("rerank") {}
};

TEST_F(RerankRowsOut, RanksAgainWhatIsLeft) {
  constexpr std::uint32_t kAgain = 40;
  const RowSet half = rows_out(0.5);
  SlottedSearchOptions options = plain(this->options());
  const Queries candidates = run(*core(options), {.k = kAgain, .out = &half});
  ASSERT_EQ(candidates.count(StatusCode::ok), kQueries);
  options.k = 10;
  options.rerank = kAgain;
  const Queries answers = run(*core(options), {.out = &half});
  ASSERT_EQ(answers.count(StatusCode::ok), kQueries);
  for (std::size_t q = 0; q < kQueries; ++q) {
    const auto expected = candidates.ranked(q);
    ASSERT_EQ(answers.found(q).size(), 10u);
    for (std::size_t i = 0; i < 10; ++i) {
      EXPECT_FALSE(half.contains(answers.found(q)[i]));
      EXPECT_EQ(answers.found(q)[i], expected[i].second) << q << ' ' << i;
    }
  }
}

}  // namespace
}  // namespace farvec::cli
