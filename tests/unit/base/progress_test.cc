#include "base/progress.h"

#include <gmock/gmock.h>

#include <string>
#include <thread>

#include "base/clock.h"

namespace farvec {
namespace {

using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

TEST(Progress, EndsWithItsTotal) {
  CaptureStderr();
  {
    Progress progress("rows", 10);
    std::jthread other([&] { progress.advance(4); });
    progress.advance(6);
  }
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("rows: 10 in "));
}

TEST(Progress, IsSilentWhenQuiet) {
  CaptureStderr();
  { Progress("rows", 10, true).advance(10); }
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST(Progress, TakesATotalOfZero) {
  CaptureStderr();
  { Progress progress("rows", 0); }
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("rows: 0 in "));
}

TEST(Clock, GoesForwardAndConvertsBack) {
  const Ticks first = now_ticks();
  EXPECT_GE(now_ticks(), first);
  EXPECT_GT(ticks_per_us(), 0.0);
  EXPECT_NEAR(ticks_to_us(us_to_ticks(1000.0)), 1000.0, 1.0);
}

}  // namespace
}  // namespace farvec
