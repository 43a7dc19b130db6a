#include "attributes/timestamp.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <ctime>
#include <random>
#include <string>

namespace farvec::attributes {
namespace {

TEST(Timestamp, IsReadInItsForms) {
  const auto is = [](const char* text, std::int64_t micros, bool exact = true) {
    const auto moment = parse_moment(text);
    ASSERT_TRUE(moment) << text;
    EXPECT_EQ(moment->micros, micros) << text;
    EXPECT_EQ(moment->exact, exact) << text;
  };
  constexpr std::int64_t kMay = 1714521600000000;  // 2024-05-01
  is("2024-05-01", kMay);
  is("2024-05-01T00:00", kMay);
  is("2024-05-01 00:00:00Z", kMay);
  is("2024-05-01t00:00:01z", kMay + 1'000'000);
  is("2024-05-01T01:30:00+01:30", kMay);
  is("2024-04-30T22:30-0130", kMay);
  is("2024-05-01T00:00:00.5", kMay + 500'000);
  is("2024-05-01T00:00:00.000001Z", kMay + 1);
  is("2024-05-01T00:00:00.0000010000", kMay + 1);
  is("2024-05-01T00:00:00.0000015Z", kMay + 1, false);
  is("1969-12-31T23:59:59.999999Z", -1);
  is("1969-12-31T23:59:59.9999995", -1, false);
  is("0001-01-01", -62135596800000000);
  is("9999-12-31T23:59:59.999999", 253402300799999999);
  is("2024-02-29", 1709164800000000);
}

TEST(Timestamp, RefusesTheRest) {
  for (const char* text : {"",
                           "2024",
                           "2024-5-1",
                           "2024-05-01T",
                           "2024-05-01T12",
                           "2024-05-01T24:00",
                           "2024-05-01T12:60",
                           "2024-05-01T12:00:60",
                           "2024-02-30",
                           "2023-02-29",
                           "0000-01-01",
                           "2024-13-01",
                           "2024-00-01",
                           "2024-05-00",
                           "2024-05-01T12:00:00.",
                           "2024-05-01T12:00.5",
                           "2024-05-01T12:00ZZ",
                           "2024-05-01T12:00+1",
                           "2024-05-01T12:00+25:00",
                           "2024-05-01Z",
                           " 2024-05-01",
                           "2024-05-01 ",
                           "12024-05-01",
                           "-024-05-01",
                           "2024/05/01"}) {
    EXPECT_FALSE(parse_moment(text)) << text;
  }
}

/// The system's calendar says the same.
TEST(Timestamp, IsWrittenAndReadAgain) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 2000; ++i) {
    const auto micros =
        static_cast<std::int64_t>(random() % 315537897600000000u) - 62135596800000000;
    const std::string text = moment_text(micros).value();
    EXPECT_EQ(parse_moment(text)->micros, micros) << text;
    const std::int64_t within = ((micros % 1'000'000) + 1'000'000) % 1'000'000;
    const auto seconds = static_cast<std::time_t>((micros - within) / 1'000'000);
    std::tm calendar{};
    gmtime_r(&seconds, &calendar);
    char expected[64];
    std::strftime(expected, sizeof(expected), "-%m-%dT%H:%M:%S", &calendar);
    EXPECT_EQ(text.substr(4, 15), std::string(expected).substr(0, 15)) << micros;
  }
  EXPECT_EQ(moment_text(0), "1970-01-01");
  EXPECT_EQ(moment_text(-1), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(moment_text(1'000'000), "1970-01-01T00:00:01Z");
  EXPECT_EQ(moment_text(INT64_MIN), std::nullopt);
  EXPECT_EQ(moment_text(INT64_MAX), std::nullopt);
  EXPECT_EQ(moment_text(253402300800000000), std::nullopt);
  EXPECT_EQ(moment_text(-62135596800000001), std::nullopt);
}

}  // namespace
}  // namespace farvec::attributes
