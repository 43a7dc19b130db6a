#include "collection/memtable/rest.h"

#include <gtest/gtest.h>

namespace farvec::collection {
namespace {

constexpr double kMinuteUs = 60e6;

TEST(Rests, LastUntilTheyAreEnded) {
  Rest rest(now_ticks() + us_to_ticks(kMinuteUs));
  EXPECT_TRUE(rest.lasts());
  rest.end();
  EXPECT_FALSE(rest.lasts());
  rest.put_off(now_ticks() + us_to_ticks(kMinuteUs));
  EXPECT_FALSE(rest.lasts()) << "it was ended for good";
}

TEST(Rests, EndByThemselvesAndMayBeginAgain) {
  Rest rest(now_ticks());
  EXPECT_FALSE(rest.lasts());
  rest.put_off(now_ticks() + us_to_ticks(kMinuteUs));
  EXPECT_TRUE(rest.lasts());
  rest.put_off(now_ticks());
  EXPECT_TRUE(rest.lasts()) << "it is never made shorter";
}

TEST(Rests, ThatNeverBeganDoNotLast) {
  Rest rest(0);
  rest.put_off(now_ticks() + us_to_ticks(kMinuteUs));
  EXPECT_FALSE(rest.lasts());
}

}  // namespace
}  // namespace farvec::collection
