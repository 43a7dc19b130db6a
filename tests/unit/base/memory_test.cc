#include "base/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/error.h"

namespace farvec {
namespace {

TEST(Memory, LinesOfARange) {
  for (std::uint64_t offset = 0; offset < 130; ++offset) {
    for (std::size_t bytes = 0; bytes < 200; ++bytes) {
      std::set<std::uint64_t> lines;
      for (std::size_t i = 0; i < bytes; ++i) lines.insert((offset + i) / kCacheLineBytes);
      ASSERT_EQ(lines_of(offset, bytes), lines.size()) << offset << " " << bytes;
    }
  }
}

TEST(HugeBuffer, IsZeroedAlignedAndWritable) {
  for (const std::size_t bytes : {std::size_t{1}, kHugePageBytes - 1, kHugePageBytes + 1}) {
    HugeBuffer buffer(bytes);
    EXPECT_EQ(buffer.size(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % kHugePageBytes, 0u);
    EXPECT_TRUE(std::all_of(buffer.span().begin(), buffer.span().end(),
                            [](std::byte b) { return b == std::byte{0}; }));
    std::fill(buffer.span().begin(), buffer.span().end(), std::byte{7});
  }
}

TEST(HugeBuffer, HoldsNothingWhenEmpty) {
  EXPECT_EQ(HugeBuffer(0).data(), nullptr);
  EXPECT_EQ(HugeBuffer().size(), 0u);
}

TEST(HugeBuffer, Moves) {
  HugeBuffer first(100);
  first.data()[99] = std::byte{5};
  const std::byte* address = first.data();
  HugeBuffer second(std::move(first));
  EXPECT_EQ(second.data(), address);
  EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move): a moved-from one is empty
  HugeBuffer third(10);
  third = std::move(second);
  EXPECT_EQ(third.size(), 100u);
  EXPECT_EQ(third.data()[99], std::byte{5});
}

TEST(HugeBuffer, SaysWhatItTakes) {
  const HugeBuffer buffer(2 * kHugePageBytes + 10'000);
  EXPECT_EQ(buffer.bytes_taken(0), 0u);
  EXPECT_EQ(buffer.bytes_taken(1), kHugePageBytes);
  EXPECT_EQ(buffer.bytes_taken(kHugePageBytes), kHugePageBytes);
  EXPECT_EQ(buffer.bytes_taken(kHugePageBytes + 1), 2 * kHugePageBytes);
  EXPECT_EQ(buffer.bytes_taken(2 * kHugePageBytes + 1), 2 * kHugePageBytes + 4096);
  EXPECT_EQ(buffer.bytes_taken(2 * kHugePageBytes + 10'000), 2 * kHugePageBytes + 12'288);
  EXPECT_EQ(HugeBuffer(5000).bytes_taken(1), 4096u);
  EXPECT_EQ(HugeBuffer().bytes_taken(0), 0u);
}

TEST(HugeBuffer, ThrowsWhenTheKernelRefuses) {
  EXPECT_THROW(HugeBuffer(std::size_t{1} << 60), SystemError);
}

TEST(Unaligned, StoresAndLoadsAnywhere) {
  std::byte bytes[16] = {};
  for (std::size_t offset = 0; offset < 8; ++offset) {
    store_unaligned<std::uint64_t>(bytes + offset, 0x0102030405060708u + offset);
    EXPECT_EQ(load_unaligned<std::uint64_t>(bytes + offset), 0x0102030405060708u + offset);
  }
}

TEST(RoundUp, GoesToTheNextMultiple) {
  EXPECT_EQ(round_up(0, 8), 0u);
  EXPECT_EQ(round_up(1, 8), 8u);
  EXPECT_EQ(round_up(8, 8), 8u);
  EXPECT_EQ(round_up(9, 6), 12u);
}

TEST(PrefetchRange, TakesAnyRange) {
  const std::byte bytes[200] = {};
  prefetch_range(bytes, 0);
  prefetch_range(bytes + 63, 130);
}

TEST(PeakResident, IsNeitherZeroNorAbsurd) {
  EXPECT_GT(peak_resident_bytes(), std::size_t{1} << 16);
  EXPECT_LT(peak_resident_bytes(), std::size_t{1} << 44);
}

}  // namespace
}  // namespace farvec
