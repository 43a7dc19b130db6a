#include "layout/log/log_segment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "layout/crc32c.h"
#include "tests/unit/message_of.h"

namespace farvec::layout {
namespace {

using ::testing::HasSubstr;
using tests::message_of;

LogSegmentHeader a_header() {
  return {.log_id = 1,
          .salt = 2,
          .number = 3,
          .first = 4096,
          .previous_end = 4000,
          .segment_bytes = 1 << 16,
          .reach = 1 << 20};
}

TEST(LogSegment, ComesBackAsItWas) {
  const LogSegmentHeader header = decode_log_header(encode_log_header(a_header()), "x");
  EXPECT_EQ(header.log_id, 1u);
  EXPECT_EQ(header.salt, 2u);
  EXPECT_EQ(header.number, 3u);
  EXPECT_EQ(header.first, 4096u);
  EXPECT_EQ(header.previous_end, 4000u);
  EXPECT_EQ(header.segment_bytes, 1u << 16);
  EXPECT_EQ(header.reach, 1u << 20);
}

TEST(LogSegment, RefusesEveryFlippedBit) {
  const LogHeaderBlock whole = encode_log_header(a_header());
  for (std::size_t byte = 0; byte < whole.size(); byte += byte < 96 ? 1 : 97) {
    for (int bit = 0; bit < 8; ++bit) {
      LogHeaderBlock block = whole;
      block[byte] ^= static_cast<std::byte>(1 << bit);
      EXPECT_THROW((void)decode_log_header(block, "x"), Error) << byte << "." << bit;
    }
  }
}

TEST(LogSegment, RefusesEveryTruncation) {
  const LogHeaderBlock whole = encode_log_header(a_header());
  for (std::size_t size = 0; size < whole.size(); size += 13) {
    EXPECT_THAT(
        message_of([&] { (void)decode_log_header(std::span(whole).first(size), "the file"); }),
        HasSubstr("the file is truncated"));
  }
}

TEST(LogSegment, SaysWhichVersionItHas) {
  LogSegmentHeader header = a_header();
  header.version = kLogVersion + 1;
  EXPECT_THAT(message_of([&] { (void)decode_log_header(encode_log_header(header), "the file"); }),
              HasSubstr("the file has version 2 of the log's format, this farvec reads version 1"));
}

TEST(LogSegment, RefusesWhatIsNoLog) {
  const LogHeaderBlock zeros{};
  EXPECT_THAT(message_of([&] { (void)decode_log_header(zeros, "x"); }),
              HasSubstr("not a segment of a farvec log"));
}

}  // namespace
}  // namespace farvec::layout
