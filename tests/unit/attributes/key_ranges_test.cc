#include "attributes/key_ranges.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <set>

namespace farvec::attributes {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
constexpr KeyRange kFew{2, 40};

std::set<std::uint64_t> keys_in(const KeyRanges& ranges) {
  std::set<std::uint64_t> keys;
  for (std::uint64_t key = 0; key < 50; ++key) {
    if (ranges.contains(key)) keys.insert(key);
  }
  return keys;
}

KeyRanges random_ranges(std::mt19937& random) {
  std::vector<KeyRange> ranges;
  for (auto n = random() % 6; n > 0; --n) {
    const std::uint64_t first = 2 + random() % 39;
    ranges.push_back({first, std::min<std::uint64_t>(40, first + random() % 5)});
  }
  return KeyRanges(ranges);
}

TEST(KeyRanges, AreSets) {
  std::mt19937 random(11);
  for (int i = 0; i < 2000; ++i) {
    const KeyRanges one = random_ranges(random);
    const KeyRanges two = random_ranges(random);
    const auto keys = keys_in(one);
    const auto others = keys_in(two);
    EXPECT_EQ(one.empty(), keys.empty());
    EXPECT_EQ(one.count_up_to(1000), keys.size());
    EXPECT_EQ(one.count_up_to(3), std::min<std::size_t>(3, keys.size()));
    EXPECT_EQ(one == two, keys == others);
    std::set<std::uint64_t> both;
    std::set<std::uint64_t> either = keys;
    either.insert(others.begin(), others.end());
    for (const std::uint64_t key : keys) {
      if (others.contains(key)) both.insert(key);
    }
    EXPECT_EQ(keys_in(one.common(two)), both);
    EXPECT_EQ(keys_in(one.united(two)), either);
    std::set<std::uint64_t> left;
    for (std::uint64_t key = kFew.first; key <= kFew.last; ++key) {
      if (!keys.contains(key)) left.insert(key);
    }
    EXPECT_EQ(keys_in(one.complement(kFew)), left);
    EXPECT_EQ(one.complement(kFew).complement(kFew), one);
  }
}

TEST(KeyRanges, ReachTheLastKey) {
  const KeyRange all{0, kMost};
  const KeyRanges every({all});
  EXPECT_EQ(every.count_up_to(5), 5u);
  EXPECT_EQ(every.count_up_to(kMost), kMost);
  EXPECT_TRUE(every.complement(all).empty());
  EXPECT_EQ(KeyRanges().complement(all), every);
  EXPECT_EQ(KeyRanges({{kMost, kMost}, {0, kMost - 1}}), every);
  EXPECT_EQ(KeyRanges({{5, kMost}, {kMost, kMost}, {7, 9}}), KeyRanges({{5, kMost}}));
  EXPECT_EQ(every.common(KeyRanges({{kMost, kMost}})).count_up_to(9), 1u);
  EXPECT_FALSE(KeyRanges({{1, 2}}).contains(0));
  EXPECT_TRUE(every.contains(kMost));
}

}  // namespace
}  // namespace farvec::attributes
