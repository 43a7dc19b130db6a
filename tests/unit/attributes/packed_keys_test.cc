#include "attributes/packed_keys.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace farvec::attributes {
namespace {

std::vector<std::uint32_t> listed(const RowBitmap& rows) {
  std::vector<std::uint32_t> list(rows.cardinality());
  rows.toUint32Array(list.data());
  return list;
}

/// Keys from `least` on, in a range of `span`, of which a tenth is null.
struct RandomKeys {
  RandomKeys(std::size_t rows, std::uint64_t least, std::uint64_t span, unsigned seed)
      : random(seed), keys(rows) {
    for (std::uint32_t row = 0; row < rows; ++row) {
      keys[row] = least + (span + 1 == 0 ? random() : random() % (span + 1));
      if (random() % 10 == 0) {
        nulls.add(row);
        keys[row] = 0;
      }
    }
  }

  void expect_rows(const PackedKeys& packed, const KeyRanges& wanted) const {
    std::vector<std::uint32_t> expected;
    for (std::uint32_t row = 0; row < keys.size(); ++row) {
      if (!nulls.contains(row) && wanted.contains(keys[row])) expected.push_back(row);
    }
    EXPECT_EQ(listed(packed.rows_with(wanted) - nulls), expected);
    RowBitmap few;
    for (std::uint32_t row = 0; row < keys.size(); row += 97) few.add(row);
    few -= nulls;
    EXPECT_EQ(listed(packed.rows_with(wanted, &few) & few), listed(packed.rows_with(wanted) & few));
  }

  std::mt19937_64 random;
  std::vector<std::uint64_t> keys;
  RowBitmap nulls;
};

TEST(PackedKeys, GiveTheRowsOfKeysInEveryWidth) {
  constexpr std::uint64_t kLastOfAll = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t spans[] = {0, 1, 255, 256, 65535, 65536, 0xffffffff, 0x100000000, kLastOfAll};
  for (const std::uint64_t span : spans) {
    const std::uint64_t least = span == kLastOfAll ? 0 : 1000;
    RandomKeys rows(9000, least, span, static_cast<unsigned>(span));
    const PackedKeys packed(rows.keys, rows.nulls);
    rows.expect_rows(packed, {});
    rows.expect_rows(packed, KeyRanges({{0, kLastOfAll}}));
    rows.expect_rows(packed, KeyRanges({{least, least}}));
    rows.expect_rows(packed, KeyRanges({{least + span, kLastOfAll}}));
    rows.expect_rows(packed, KeyRanges({{least + span / 4, least + span / 2}}));
    std::vector<KeyRange> many;
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t key = rows.keys[rows.random() % rows.keys.size()];
      many.push_back({key, key});
    }
    rows.expect_rows(packed, KeyRanges(many));
    rows.expect_rows(packed, KeyRanges(many).complement({0, kLastOfAll}));
  }
}

TEST(PackedKeys, TakeAsFewBytesAsTheirRangeNeeds) {
  const auto bytes = [](std::uint64_t span) {
    RandomKeys rows(40'960, 1u << 20, span, 1);
    rows.keys[0] = (1u << 20) + span;
    return PackedKeys(rows.keys, RowBitmap()).dram_bytes();
  };
  const std::size_t bounds = 10 * sizeof(KeyRange);
  std::vector<std::uint64_t> same(40'960, 77);
  EXPECT_EQ(PackedKeys(same, RowBitmap()).dram_bytes(), bounds);
  std::vector<std::uint64_t> small(40'960, 1u << 20);
  small[5] += 255;
  EXPECT_EQ(PackedKeys(small, RowBitmap()).dram_bytes(), 40'960 + bounds);
  small[5] += 1;
  EXPECT_EQ(PackedKeys(small, RowBitmap()).dram_bytes(), 2 * 40'960 + bounds);
  EXPECT_EQ(bytes(std::uint64_t{1} << 40), 8 * 40'960 + bounds);
}

TEST(PackedKeys, MayBeNoneOrNull) {
  EXPECT_EQ(listed(PackedKeys({}, {}).rows_with(KeyRanges({{0, 9}}))).size(), 0u);
  std::vector<std::uint64_t> keys(5000);
  RowBitmap nulls;
  nulls.addRange(0, 5000);
  const PackedKeys packed(keys, nulls);
  EXPECT_EQ(listed(packed.rows_with(KeyRanges({{0, 9}})) - nulls).size(), 0u);
}

}  // namespace
}  // namespace farvec::attributes
