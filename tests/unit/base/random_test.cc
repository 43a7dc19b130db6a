#include "base/random.h"

#include <gtest/gtest.h>

#include <vector>

namespace farvec {
namespace {

TEST(Random, IsTheSameForTheSameSeed) {
  // The published test values of SplitMix64 for the seed 1234567.
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.next(), 9817491932198370423u);
}

TEST(Random, StaysBelowItsBoundAndReachesAll) {
  Random random(1);
  std::vector<int> hits(7);
  for (int i = 0; i < 7000; ++i) ++hits[random.below(7)];
  // 1,000 expected each; the standard deviation is 29.
  for (const int count : hits) EXPECT_NEAR(count, 1000, 180);
  EXPECT_EQ(random.below(1), 0u);
}

TEST(Random, UniformLiesInItsHalfOpenInterval) {
  Random random(2);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double value = random.uniform();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

TEST(Random, NormalHasMeanZeroAndVarianceOne) {
  Random random(3);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < 20'000; ++i) {
    const double value = random.normal();
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 20'000, 0.0, 0.04);
  EXPECT_NEAR(squares / 20'000, 1.0, 0.06);
}

}  // namespace
}  // namespace farvec
