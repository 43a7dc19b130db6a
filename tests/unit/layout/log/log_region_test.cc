#include "layout/log/log_region.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace farvec::layout {
namespace {

LogRegionHeader some_header() {
  LogRegionHeader header = divide_log_region(std::uint64_t{1} << 30);
  header.log_id = 7;
  header.changes = 12;
  header.epoch = 3;
  header.copies = 3;
  header.needed = 2;
  return header;
}

TEST(LogRegion, IsReadAsItWasWritten) {
  LogRegionHeader header = some_header();
  const LogRegionBytes bytes = encode_log_region(header);
  const auto read = decode_log_region(bytes);
  ASSERT_TRUE(read);
  header.checksum = read->checksum;
  EXPECT_EQ(*read, header);
}

TEST(LogRegion, IsNoneWithAnyByteChangedOrMissing) {
  const LogRegionBytes bytes = encode_log_region(some_header());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    LogRegionBytes changed = bytes;
    changed[i] ^= std::byte{1};
    EXPECT_FALSE(decode_log_region(changed)) << i;
    EXPECT_FALSE(decode_log_region(std::span(bytes).first(i))) << i;
  }
  EXPECT_FALSE(decode_log_region(LogRegionBytes{}));
}

TEST(LogRegion, IsNoneWithNumbersThatContradictEachOther) {
  const auto refused = [](auto change) {
    LogRegionHeader header = some_header();
    change(header);
    return !decode_log_region(encode_log_region(header));
  };
  EXPECT_TRUE(refused([](auto& h) { h.needed = 4; }));
  EXPECT_TRUE(refused([](auto& h) { h.needed = 0; }));
  EXPECT_TRUE(refused([](auto& h) { h.slots = 7; }));
  EXPECT_TRUE(refused([](auto& h) { h.slots = 33; }));
  EXPECT_TRUE(refused([](auto& h) { h.slot_bytes += 8; }));
  EXPECT_TRUE(refused([](auto& h) { h.slot_bytes = 1 << 20; }));
  EXPECT_TRUE(refused([](auto& h) { h.log_id = 0; }));
}

TEST(LogRegion, IsDividedIntoSlotsThatFit) {
  for (const std::uint64_t mib : {0, 1, 16, 17, 63, 64, 65, 66, 100, 1024, 5000}) {
    for (const std::uint64_t more : {0, 1, 4095, 4096}) {
      const std::uint64_t bytes = (mib << 20) + more;
      const LogRegionHeader header = divide_log_region(bytes);
      EXPECT_LE(header.slots == 0 ? 0 : log_slot_offset(header, header.slots), bytes) << bytes;
      EXPECT_EQ(header.slots > 0, bytes >= (16u << 20) + kLogRegionHeaderBytes) << bytes;
    }
  }
  EXPECT_EQ(divide_log_region(std::uint64_t{1} << 30).slots, kMostLogSlots);
}

}  // namespace
}  // namespace farvec::layout
