#include "base/quantity.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace farvec {
namespace {

TEST(Quantity, SizesAreWholeBytes) {
  EXPECT_EQ(parse_bytes("0", "--x"), 0u);
  EXPECT_EQ(parse_bytes("12345", "--x"), 12345u);
  EXPECT_EQ(parse_bytes("512B", "--x"), 512u);
  EXPECT_EQ(parse_bytes("1MB", "--x"), 1'000'000u);
  EXPECT_EQ(parse_bytes("64KiB", "--x"), 65536u);
  EXPECT_EQ(parse_bytes("1.5GiB", "--x"), 3u << 29);
  EXPECT_EQ(parse_bytes("0.1GB", "--x"), 100'000'000u);
  EXPECT_EQ(parse_bytes("12.5KiB", "--x"), 12800u);
  EXPECT_EQ(parse_bytes("2TB", "--x"), 2'000'000'000'000u);
  EXPECT_EQ(parse_bytes("1TiB", "--x"), std::uint64_t{1} << 40);
}

TEST(Quantity, WhatIsNoSizeIsRefusedByName) {
  for (const char* text : {"", "x", "%", "-1", "-1MB", "1.5", "0.3B", "1 MB", "1mb", "1K", "1e3",
                           "inf", "nan", "MB", "9999999999TB", "1MB "}) {
    EXPECT_THROW((void)parse_bytes(text, "--x"), Error) << text;
  }
  try {
    (void)parse_bytes("1PB", "--memory-budget");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--memory-budget: '1PB'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("KiB"), std::string::npos);
  }
}

TEST(Quantity, SharesAreOfAHundred) {
  EXPECT_EQ(parse_percent("20%", "--x"), 20);
  EXPECT_EQ(parse_percent("0.5%", "--x"), 0.5);
  EXPECT_EQ(parse_percent("100%", "--x"), 100);
  for (const char* text : {"0%", "101%", "100.1%", "-1%", "20", "%", "", "nan%", "20%%", "1e1%"}) {
    EXPECT_THROW((void)parse_percent(text, "--x"), Error) << text;
  }
}

TEST(Quantity, APartMayBeNoneOrAll) {
  EXPECT_EQ(parse_share("0%", "--x"), 0);
  EXPECT_EQ(parse_share("12.5%", "--x"), 0.125);
  EXPECT_EQ(parse_share("100%", "--x"), 1);
  for (const char* text : {"0", "0.5", "101%", "-1%", "%", "", "nan%", "half"}) {
    EXPECT_THROW((void)parse_share(text, "--x"), Error) << text;
  }
}

}  // namespace
}  // namespace farvec
