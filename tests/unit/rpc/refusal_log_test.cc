#include "rpc/refusal_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace farvec::rpc {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr RefusalLog::Clock::time_point kStart{1000s};

TEST(RefusalLog, SaysWhoAndWhy) {
  RefusalLog log;
  EXPECT_THAT(log.line({"10.0.0.1:4711", "expired", "CN=client"}, kStart),
              AllOf(HasSubstr("10.0.0.1:4711"), HasSubstr("expired"), HasSubstr("'CN=client'")));
  EXPECT_THAT(log.line({"10.0.0.1:4712", "no certificate", ""}, kStart), Not(HasSubstr("''")));
}

TEST(RefusalLog, CountsWhatItLeavesOutForEachHostAndReason) {
  RefusalLog log;
  EXPECT_NE(log.line({"[::1]:1", "expired", ""}, kStart), "");
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(log.line({"[::1]:" + std::to_string(i), "expired", ""}, kStart + 9s), "");
  }
  EXPECT_NE(log.line({"[::1]:1", "foreign", ""}, kStart + 9s), "") << "another reason";
  EXPECT_NE(log.line({"[::2]:1", "expired", ""}, kStart + 9s), "") << "another host";
  EXPECT_THAT(log.line({"[::1]:99", "expired", ""}, kStart + 10s),
              AllOf(HasSubstr("[::1]:99"), HasSubstr("(12 more")));
  EXPECT_THAT(log.line({"[::1]:99", "expired", ""}, kStart + 20s), Not(HasSubstr("more")));
}

/// When 3000 hosts come at a time, 1024 have lines of their own and all others share one. Later
/// there is room again.
TEST(RefusalLog, IsBounded) {
  RefusalLog log;
  int lines = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string peer = "10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250);
    lines += log.line({peer + ":1", "expired", ""}, kStart).empty() ? 0 : 1;
  }
  EXPECT_EQ(lines, 1025);
  EXPECT_NE(log.line({"10.1.1.1:1", "expired", ""}, kStart + 10s), "");
}

}  // namespace
}  // namespace farvec::rpc
