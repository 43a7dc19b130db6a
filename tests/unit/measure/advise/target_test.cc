#include "measure/advise/target.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace farvec::measure {
namespace {

/// Recall number / 100, up to 0.97; ten reads for each.
Searched search(std::uint32_t number) {
  Searched searched;
  searched.recall = std::min(number / 100.0, 0.97);
  searched.counts[kReads] = 10.0 * number;
  return searched;
}

TEST(Reach, FindsTheLeastNumber) {
  const auto reached = reach(search, 1, 1000, 0.5);
  ASSERT_TRUE(reached);
  EXPECT_NEAR(reached->parameter, 50, 1e-9);
  EXPECT_NEAR(reached->counts[kReads], 500, 1e-9);
}

TEST(Reach, LiesBetweenTwoNumbers) {
  const auto reached = reach(search, 1, 1000, 0.505);
  ASSERT_TRUE(reached);
  EXPECT_NEAR(reached->parameter, 50.5, 1e-9);
  EXPECT_NEAR(reached->counts[kReads], 505, 1e-9);
}

TEST(Reach, TakesTheLeastNumberThatIsAllowed) {
  const auto reached = reach(search, 60, 1000, 0.5);
  ASSERT_TRUE(reached);
  EXPECT_EQ(reached->parameter, 60);
  EXPECT_EQ(reached->counts[kReads], 600);
}

TEST(Reach, SaysWhenTheRecallIsOutOfReach) {
  EXPECT_FALSE(reach(search, 1, 1000, 0.98));
  EXPECT_FALSE(reach(search, 1, 40, 0.5));
  EXPECT_TRUE(reach(search, 1, 50, 0.5));
}

TEST(Reach, TriesFewNumbers) {
  int tries = 0;
  reach([&](std::uint32_t number) { return ++tries, search(number); }, 1, 1u << 31, 0.77);
  EXPECT_LE(tries, 16);
}

}  // namespace
}  // namespace farvec::measure
