#include "client/backoff.h"

#include <gtest/gtest.h>

namespace farvec::client {
namespace {

using std::chrono::milliseconds;

TEST(Backoff, EndsAfterSoManyRetries) {
  Random random(1);
  EXPECT_FALSE(Backoff(0, random).next(milliseconds(0)));
  Backoff three(3, random);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(three.next(milliseconds(0)));
  EXPECT_FALSE(three.next(milliseconds(0)));
}

TEST(Backoff, WaitsTwiceAsLongEachTimeUpToASecond) {
  Random random(2);
  for (int round = 0; round < 100; ++round) {
    Backoff backoff(12, random);
    double full_ms = 10;
    while (const auto wait = backoff.next(milliseconds(0))) {
      EXPECT_GE(wait->count(), static_cast<int>(full_ms / 2));
      EXPECT_LE(wait->count(), full_ms);
      full_ms = std::min(2 * full_ms, 1'000.0);
    }
  }
}

TEST(Backoff, ClientsThatWereRefusedTogetherDoNotComeBackTogether) {
  Random one(3), other(4);
  Backoff first(20, one), second(20, other);
  int different = 0;
  for (int i = 0; i < 20; ++i) {
    different += first.next(milliseconds(0)) != second.next(milliseconds(0)) ? 1 : 0;
  }
  EXPECT_GT(different, 10);
}

TEST(Backoff, WaitsAsLongAsTheNodeAsksButNotForEver) {
  Random random(5);
  Backoff backoff(2, random);
  EXPECT_EQ(backoff.next(milliseconds(700)), milliseconds(700));
  EXPECT_EQ(backoff.next(milliseconds(3'600'000)), milliseconds(10'000));
}

}  // namespace
}  // namespace farvec::client
