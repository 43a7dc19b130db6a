#include "layout/log/log_frame.h"

#include <gtest/gtest.h>

namespace farvec::layout {
namespace {

constexpr std::uint64_t kPosition = 1000;
const std::uint32_t kSeed = log_frame_seed(77);

LogFrameHeader a_frame() {
  LogFrameHeader header{.length = 5, .in_group = 64, .position = kPosition, .bytes_crc = 9};
  seal_log_frame(header, kSeed);
  return header;
}

std::span<const std::byte> bytes_of(const LogFrameHeader& header) {
  return std::as_bytes(std::span(&header, 1));
}

TEST(LogFrame, ComesBackAsItWas) {
  const LogFrameHeader header = a_frame();
  const auto read = decode_log_frame(bytes_of(header), kPosition, kSeed);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->length, 5u);
  EXPECT_EQ(read->group_begin(), kPosition - 64);
  EXPECT_EQ(read->bytes_crc, 9u);
}

TEST(LogFrame, TakesWholeAlignments) {
  EXPECT_EQ(log_frame_bytes(0), 24u);
  EXPECT_EQ(log_frame_bytes(1), 32u);
  EXPECT_EQ(log_frame_bytes(8), 32u);
  EXPECT_EQ(log_frame_bytes(9), 40u);
}

TEST(LogFrame, IsNoneAtAnotherPositionOrInAnotherSegment) {
  const LogFrameHeader header = a_frame();
  EXPECT_FALSE(decode_log_frame(bytes_of(header), kPosition + 8, kSeed).has_value());
  EXPECT_FALSE(decode_log_frame(bytes_of(header), kPosition, log_frame_seed(78)).has_value());
}

TEST(LogFrame, IsNoneWithAFlippedBitOrCutOrOfZeros) {
  for (std::size_t bit = 0; bit < 8 * sizeof(LogFrameHeader); ++bit) {
    LogFrameHeader header = a_frame();
    reinterpret_cast<unsigned char*>(&header)[bit / 8] ^= 1 << bit % 8;
    EXPECT_FALSE(decode_log_frame(bytes_of(header), kPosition, kSeed).has_value()) << bit;
  }
  const LogFrameHeader whole = a_frame();
  for (std::size_t size = 0; size < sizeof(whole); ++size) {
    EXPECT_FALSE(decode_log_frame(bytes_of(whole).first(size), kPosition, kSeed).has_value());
  }
  EXPECT_FALSE(decode_log_frame(bytes_of(LogFrameHeader{}), 0, kSeed).has_value());
}

}  // namespace
}  // namespace farvec::layout
