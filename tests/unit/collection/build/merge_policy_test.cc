#include "collection/build/merge_policy.h"

#include <gtest/gtest.h>

namespace farvec::collection {
namespace {

using Chosen = std::vector<std::size_t>;

constexpr MergePolicy kPolicy{.fanout = 3, .memtable_rows = 100, .out_share = 0.3};

SegmentSize whole(std::uint64_t rows) {
  return {rows, rows};
}

TEST(MergePolicy, LeavesFewSegmentsAlone) {
  EXPECT_EQ(choose_merge({}, kPolicy), Chosen());
  EXPECT_EQ(choose_merge({whole(100)}, kPolicy), Chosen());
  EXPECT_EQ(choose_merge({whole(100), whole(100)}, kPolicy), Chosen());
}

TEST(MergePolicy, MergesThoseOfOneSize) {
  EXPECT_EQ(choose_merge({whole(100), whole(90), whole(5)}, kPolicy), (Chosen{0, 1, 2}));
  EXPECT_EQ(choose_merge({whole(5000), whole(100), whole(100), whole(100)}, kPolicy),
            (Chosen{1, 2, 3}));
}

TEST(MergePolicy, TakesTheSmallestSizeFirst) {
  EXPECT_EQ(
      choose_merge({whole(400), whole(500), whole(899), whole(100), whole(299), whole(1)}, kPolicy),
      (Chosen{3, 4, 5}));
  EXPECT_EQ(choose_merge({whole(400), whole(500), whole(899), whole(100)}, kPolicy),
            (Chosen{0, 1, 2}));
}

TEST(MergePolicy, WritesASegmentAnewOfWhichMuchIsUpdated) {
  EXPECT_EQ(choose_merge({whole(1000), {200, 200, 60}}, kPolicy), Chosen());
  EXPECT_EQ(choose_merge({whole(1000), {200, 200, 61}}, kPolicy), Chosen{1});
  EXPECT_EQ(choose_merge({{200, 160, 30}}, kPolicy), Chosen{0});
}

TEST(MergePolicy, WritesASegmentAnewOfWhichMuchIsOut) {
  EXPECT_EQ(choose_merge({whole(1000), {200, 140}}, kPolicy), Chosen());
  EXPECT_EQ(choose_merge({whole(1000), {200, 139}}, kPolicy), Chosen{1});
  EXPECT_EQ(choose_merge({{200, 0}}, kPolicy), Chosen{0});
}

TEST(MergePolicy, MergesNoMoreRowsThanItMay) {
  MergePolicy policy = kPolicy;
  policy.most_rows = 300;
  EXPECT_EQ(choose_merge({whole(120), whole(110), whole(100), whole(90)}, policy),
            (Chosen{1, 2, 3}));
  EXPECT_EQ(choose_merge({whole(120), whole(110), whole(100)}, policy), Chosen());
  EXPECT_EQ(choose_merge({whole(400), whole(500), whole(899)}, policy), Chosen());
  EXPECT_EQ(
      choose_merge({whole(400), whole(50), whole(500), whole(60), whole(70), whole(899)}, policy),
      (Chosen{1, 3, 4}));
  // What is out of a large segment goes all the same.
  EXPECT_EQ(choose_merge({{1000, 600}}, policy), Chosen{0});
}

TEST(MergePolicy, EndsAfterEveryMerge) {
  std::vector<SegmentSize> segments;
  for (int flush = 0; flush < 500; ++flush) {
    segments.push_back(whole(100));
    int merges = 0;
    for (Chosen chosen = choose_merge(segments, kPolicy); !chosen.empty();
         chosen = choose_merge(segments, kPolicy)) {
      std::uint64_t rows = 0;
      for (std::size_t i = chosen.size(); i-- > 0;) {
        rows += segments[chosen[i]].live;
        segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(chosen[i]));
      }
      segments.push_back(whole(rows));
      ASSERT_LT(++merges, 10);
    }
    ASSERT_LE(segments.size(), 14u);
  }
}

}  // namespace
}  // namespace farvec::collection
