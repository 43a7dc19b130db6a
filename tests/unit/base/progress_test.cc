#include "base/progress.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "base/clock.h"

namespace farvec {
namespace {

using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

/// Nothing is said of shorter work.
constexpr std::chrono::milliseconds kLong{1050};

std::string told(const std::function<void(Progress&)>& work, std::uint64_t total) {
  CaptureStderr();
  {
    Progress progress("rows", total);
    std::this_thread::sleep_for(kLong);
    work(progress);
  }
  return GetCapturedStderr();
}

TEST(Progress, EndsWithItsTotal) {
  const auto both = [](Progress& progress) {
    std::jthread other([&] { progress.advance(4); });
    progress.advance(6);
  };
  EXPECT_THAT(told(both, 10), HasSubstr("rows: 10 in "));
}

TEST(Progress, HasALineForEveryTenthWhereNoTerminalIs) {
  const auto one_by_one = [](Progress& progress) {
    for (int i = 0; i < 1000; ++i) progress.advance(1);
  };
  const std::string lines = told(one_by_one, 1000);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 10) << lines;
  EXPECT_THAT(lines, HasSubstr("rows: 10% 100/1000 "));
  EXPECT_THAT(lines, HasSubstr("rows: 90% 900/1000 "));
  EXPECT_THAT(lines, HasSubstr(" s left\n"));
}

TEST(Progress, SaysNothingOfShortWork) {
  CaptureStderr();
  { Progress("rows", 10).advance(10); }
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST(Progress, IsSilentWhenQuiet) {
  CaptureStderr();
  {
    Progress progress("rows", 10, true);
    std::this_thread::sleep_for(kLong);
    progress.advance(10);
  }
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST(Progress, TakesATotalOfZero) {
  EXPECT_THAT(told([](Progress&) {}, 0), HasSubstr("rows: 0 in "));
}

TEST(Clock, GoesForwardAndConvertsBack) {
  const Ticks first = now_ticks();
  EXPECT_GE(now_ticks(), first);
  EXPECT_GT(ticks_per_us(), 0.0);
  EXPECT_NEAR(ticks_to_us(us_to_ticks(1000.0)), 1000.0, 1.0);
}

}  // namespace
}  // namespace farvec
