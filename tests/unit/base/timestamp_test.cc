#include "base/timestamp.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"

namespace farvec {
namespace {

constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kDay = 86'400 * kSecond;

bool is_leap(int year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int days_of(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return kDays[month - 1] + (month == 2 && is_leap(year) ? 1 : 0);
}

TEST(Timestamp, EveryDayOfTheYearsFollowsTheOneBefore) {
  std::int64_t expected = kLeastTimestamp;
  for (int year = 1; year <= 9999; ++year) {
    for (int month = 1; month <= 12; ++month) {
      for (int day = 1; day <= days_of(year, month); ++day, expected += kDay) {
        // All days are much work: only years about a turn of the rules have each of them.
        if (day > 1 && year % 100 > 1) continue;
        const std::string date = fmt::format("{:04}-{:02}-{:02}", year, month, day);
        ASSERT_EQ(parse_timestamp(date), expected) << date;
        ASSERT_EQ(timestamp_text(expected), date + "T00:00:00Z");
      }
    }
  }
  EXPECT_EQ(expected, kMostTimestamp + 1);
}

TEST(Timestamp, ADayThatTheMonthDoesNotHaveIsRefused) {
  for (const int year : {1, 4, 1900, 2000, 2023, 2024, 2100, 9999}) {
    for (int month = 1; month <= 12; ++month) {
      for (int day = 0; day <= 32; ++day) {
        const std::string date = fmt::format("{:04}-{:02}-{:02}", year, month, day);
        const bool is = day >= 1 && day <= days_of(year, month);
        EXPECT_EQ(parse_timestamp(date).has_value(), is) << date;
      }
    }
  }
}

TEST(Timestamp, TheSameMomentHasManyForms) {
  const std::int64_t noon = 1'714'564'800 * kSecond;  // date -u -d '2024-05-01 12:00' +%s
  for (const char* text :
       {"2024-05-01T12:00:00Z", "2024-05-01 12:00:00Z", "2024-05-01T12:00:00",
        "2024-05-01T12:00:00.0Z", "2024-05-01T12:00:00.000000", "2024-05-01T12:00:00+00:00",
        "2024-05-01T12:00:00-00:00", "2024-05-01T14:00:00+02:00", "2024-05-01T06:30:00-05:30",
        "2024-05-02T11:59:00+23:59", "2024-04-30T12:01:00-23:59"}) {
    EXPECT_EQ(parse_timestamp(text), noon) << text;
  }
  EXPECT_EQ(timestamp_text(noon), "2024-05-01T12:00:00Z");
}

TEST(Timestamp, AFractionHasUpToSixDigits) {
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00.5Z"), 500'000);
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00.05"), 50'000);
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00.123456+00:00"), 123'456);
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00.000001Z"), 1);
  EXPECT_EQ(parse_timestamp("1969-12-31T23:59:59.999999Z"), -1);
  EXPECT_EQ(timestamp_text(-1), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(timestamp_text(50'000), "1970-01-01T00:00:00.050000Z");
}

TEST(Timestamp, OtherTextsAreRefused) {
  for (const char* text : {"",
                           "2024",
                           "2024-05",
                           "2024-05-1",
                           "24-05-01",
                           "2024/05/01",
                           "20240501",
                           "2024-05-01T",
                           "2024-05-01Z",
                           "2024-05-01T12",
                           "2024-05-01T12:00",
                           "2024-05-01T12:00Z",
                           "2024-05-01T24:00:00Z",
                           "2024-05-01T12:60:00Z",
                           "2024-05-01T12:00:60Z",
                           "2024-05-01t12:00:00z",
                           "2024-05-01T12:00:00.Z",
                           "2024-05-01T12:00:00.1234567Z",
                           "2024-05-01T12:00:00,5Z",
                           "2024-05-01T12:00:00ZZ",
                           "2024-05-01T12:00:00 Z",
                           "2024-05-01T12:00:00+2",
                           "2024-05-01T12:00:00+0200",
                           "2024-05-01T12:00:00+24:00",
                           "2024-05-01T12:00:00+02:60",
                           "2024-05-01T12:00:00+02:00Z",
                           " 2024-05-01",
                           "2024-05-01 ",
                           "-2024-05-01",
                           "+2024-05-01",
                           "12024-05-01",
                           "0000-12-31",
                           "0001-01-01T00:00:00+00:01",
                           "9999-12-31T23:59:59-00:01",
                           "2024-05-01T-1:00:00Z",
                           "2024-13-01",
                           "1714564800",
                           "today"}) {
    EXPECT_EQ(parse_timestamp(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_timestamp(std::string_view("2024-05-01\0", 11)), std::nullopt);
}

TEST(Timestamp, ThereAndBackIsTheSame) {
  Random random(7);
  const auto span = static_cast<std::uint64_t>(kMostTimestamp - kLeastTimestamp);
  for (int i = 0; i < 20'000; ++i) {
    const auto time = kLeastTimestamp + static_cast<std::int64_t>(random.below(span + 1));
    ASSERT_EQ(parse_timestamp(timestamp_text(time)), time) << time;
  }
  for (const std::int64_t time : {kLeastTimestamp, std::int64_t{0}, kMostTimestamp}) {
    EXPECT_EQ(parse_timestamp(timestamp_text(time)), time);
  }
}

TEST(Timestamp, NumbersOutOfTheYearsHaveATextOfTheirOwn) {
  EXPECT_EQ(timestamp_text(kMostTimestamp + 1), "+10000-01-01T00:00:00Z");
  EXPECT_EQ(timestamp_text(kLeastTimestamp - 1), "0000-12-31T23:59:59.999999Z");
  EXPECT_EQ(timestamp_text(kLeastTimestamp - 366 * kDay - 1), "-1-12-31T23:59:59.999999Z");
  // As Python's calendar has it, moved by whole turns of 400 years.
  EXPECT_EQ(timestamp_text(std::numeric_limits<std::int64_t>::max()),
            "+294247-01-10T04:00:54.775807Z");
  EXPECT_EQ(timestamp_text(std::numeric_limits<std::int64_t>::min()),
            "-290308-12-21T19:59:05.224192Z");
  EXPECT_EQ(parse_timestamp(timestamp_text(kMostTimestamp + 1)), std::nullopt);
  EXPECT_EQ(parse_timestamp(timestamp_text(kLeastTimestamp - 1)), std::nullopt);
}

}  // namespace
}  // namespace farvec
