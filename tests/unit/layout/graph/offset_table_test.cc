#include "layout/graph/offset_table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/random.h"

namespace farvec::layout {
namespace {

std::vector<std::uint32_t> random_degrees(std::size_t count, std::uint32_t limit) {
  Random random(count * 31 + limit);
  std::vector<std::uint32_t> degrees(count);
  for (auto& degree : degrees) degree = static_cast<std::uint32_t>(random.below(limit + 1));
  return degrees;
}

void expect_prefix_sums(const OffsetTable& table, const std::vector<std::uint32_t>& degrees) {
  std::uint64_t sum = 0;
  for (std::size_t v = 0; v < degrees.size(); ++v) {
    const auto edges = table.find(static_cast<NodeId>(v));
    ASSERT_EQ(edges.first, sum) << v;
    ASSERT_EQ(edges.length, degrees[v]) << v;
    sum += degrees[v];
  }
  EXPECT_EQ(table.total(), sum);
  EXPECT_EQ(table.count(), degrees.size());
}

HugeBuffer copy_of(std::span<const std::byte> bytes) {
  HugeBuffer copy(bytes.size());
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  return copy;
}

TEST(OffsetTable, EqualsPrefixSums) {
  for (const std::size_t count : {1, 2, 27, 28, 29, 56, 57, 1000, 100'003}) {
    for (const std::uint32_t limit : {0u, 1u, 64u, OffsetTable::kMostLength}) {
      const auto degrees = random_degrees(count, limit);
      const OffsetTable table(degrees);
      expect_prefix_sums(table, degrees);
      expect_prefix_sums(OffsetTable({copy_of(table.bytes())}, count, limit), degrees);
    }
  }
}

TEST(OffsetTable, HoldsALineOfLargestDegrees) {
  static_assert(OffsetTable::kMostLength >= 2000);
  const std::vector<std::uint32_t> degrees(3 * OffsetTable::kVerticesPerLine,
                                           OffsetTable::kMostLength);
  expect_prefix_sums(OffsetTable(degrees), degrees);
}

TEST(OffsetTable, CountsBeyond32Bits) {
  const std::size_t lines = (std::uint64_t{1} << 33) / (28 * 2340) + 1;
  const std::vector<std::uint32_t> many(lines * 28, 2340);
  const OffsetTable table(many);
  const auto last = static_cast<NodeId>(many.size() - 1);
  EXPECT_EQ(table.find(last).first, std::uint64_t{last} * 2340);
}

TEST(OffsetTable, TakesAtMostTwoAndAHalfBytesPerVertex) {
  const OffsetTable table(random_degrees(1'000'000, 64));
  EXPECT_LE(static_cast<double>(table.bytes().size()) / 1e6, 2.5);
}

TEST(OffsetTable, RefusesADegreeThatDoesNotFit) {
  const std::vector<std::uint32_t> degrees = {1, OffsetTable::kMostLength + 1};
  EXPECT_THROW(OffsetTable{degrees}, Error);
}

TEST(OffsetTable, RefusesBytesOfAnotherLength) {
  const OffsetTable table(random_degrees(100, 9));
  EXPECT_THROW(OffsetTable({copy_of(table.bytes())}, 28, 9), Error);
  EXPECT_THROW(OffsetTable({HugeBuffer()}, 1, 9), Error);
}

TEST(OffsetTable, RefusesBytesThatAreNotATable) {
  const std::vector<std::uint32_t> degrees(100, 7);
  const OffsetTable table(degrees);
  EXPECT_THROW(OffsetTable({copy_of(table.bytes())}, 100, 6), Error);  // a degree above the limit
  for (std::size_t at = 0; at < table.bytes().size(); ++at) {
    HugeBuffer damaged = copy_of(table.bytes());
    damaged.data()[at] ^= std::byte{0x40};
    EXPECT_THROW(OffsetTable({std::move(damaged)}, 100, 7), Error) << at;
  }
}

}  // namespace
}  // namespace farvec::layout
