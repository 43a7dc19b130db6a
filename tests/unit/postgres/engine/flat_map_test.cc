#include "postgres/engine/flat_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace farvec::postgres {
namespace {

using Map = FlatMap<std::uint64_t>;

TEST(FlatMap, HasWhatAMapHas) {
  std::mt19937_64 random(1);
  // Few keys, so that each comes and goes often, and neighbours in the array meet.
  std::uniform_int_distribution<std::uint64_t> keys(0, 400);
  Map map;
  std::map<std::uint64_t, std::uint64_t> expected;
  for (std::uint64_t turn = 0; turn < 200'000; ++turn) {
    const std::uint64_t key = keys(random);
    if (random() % 2 == 0) {
      const auto [value, is_new] = map.insert(key);
      EXPECT_EQ(is_new, !expected.contains(key));
      EXPECT_EQ(value, is_new ? 0 : expected[key]);
      value = turn;
      expected[key] = turn;
    } else {
      EXPECT_EQ(map.erase(key), expected.erase(key) == 1);
    }
    const std::uint64_t other = keys(random);
    const std::uint64_t* const found = map.find(other);
    ASSERT_EQ(found != nullptr, expected.contains(other));
    if (found != nullptr) {
      ASSERT_EQ(*found, expected[other]);
    }
    ASSERT_EQ(map.size(), expected.size());
  }
  std::map<std::uint64_t, std::uint64_t> all;
  map.for_each([&](std::uint64_t key, std::uint64_t value) { all[key] = value; });
  EXPECT_EQ(all, expected);
}

TEST(FlatMap, TakesMemoryForWhatItHas) {
  Map map;
  EXPECT_EQ(map.bytes(), 0u);
  EXPECT_EQ(map.find(7), nullptr);
  EXPECT_FALSE(map.erase(7));
  for (std::uint64_t key = 0; key < 100'000; ++key) {
    const std::size_t next = map.bytes_of_more(1);
    map.insert(key << 40);
    ASSERT_EQ(map.bytes(), next);
  }
  EXPECT_GE(map.bytes(), 100'000 * 2 * sizeof(std::uint64_t) * 4 / 3);
  EXPECT_LE(map.bytes(), 100'000 * 2 * sizeof(std::uint64_t) * 3);
}

TEST(FlatMap, OneKeyIsNone) {
  Map map;
  map.insert(1);
  EXPECT_EQ(map.find(Map::kNoKey), nullptr);
  EXPECT_FALSE(map.erase(Map::kNoKey));
}

}  // namespace
}  // namespace farvec::postgres
