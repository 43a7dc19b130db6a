#include "search/index/further_matches.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace farvec::search {
namespace {

using attributes::RowBitmap;
using Ids = std::vector<std::uint64_t>;

RowBitmap bitmap(const std::vector<NodeId>& rows) {
  RowBitmap made;
  made.addMany(rows.size(), rows.data());
  return made;
}

TEST(FurtherMatches, AddTheRowsOfIdsAndAskForThemOnce) {
  FurtherMatches cache;
  int asked = 0;
  const FurtherMatches::Find find = [&](std::span<const std::uint64_t> ids,
                                        std::vector<NodeId>& rows) {
    ++asked;
    for (const std::uint64_t id : ids) {
      if (id < 1000) rows.push_back(static_cast<NodeId>(999 - id));
    }
  };
  const auto some = std::make_shared<const RowBitmap>(bitmap({3, 500}));
  const auto others = std::make_shared<const RowBitmap>(bitmap({4}));
  const Ids ids{1, 499, 998, 5000};
  const auto with = [&](const attributes::MatchCache::Rows& matches, std::uint64_t number) {
    return cache.rows_of(matches, {.ids = ids, .number = number}, find);
  };
  EXPECT_TRUE(*with(some, 1) == bitmap({1, 3, 500, 998}));
  EXPECT_EQ(with(some, 1), with(some, 1)) << "what is kept of it by others holds";
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(*with(others, 1) == bitmap({1, 4, 500, 998}));
  EXPECT_TRUE(*with(some, 2) == bitmap({1, 3, 500, 998}));
  EXPECT_EQ(asked, 3);
  EXPECT_GT(cache.dram_bytes(), 0u);
  for (std::uint64_t number = 10; number < 20; ++number) with(some, number);
  with(some, 1);
  EXPECT_EQ(asked, 14) << "the last few are kept";
}

TEST(FurtherMatches, AreTheMatchesWhereNoRowIsThere) {
  FurtherMatches cache;
  const auto some = std::make_shared<const RowBitmap>(bitmap({3}));
  const FurtherMatches::Find none = [](auto, auto&) {};
  const Ids ids{7};
  EXPECT_EQ(cache.rows_of(some, {.ids = ids, .number = 1}, none), some);
  EXPECT_EQ(cache.rows_of(some, {.ids = {}, .number = 2}, none), some);
  EXPECT_EQ(cache.dram_bytes(), 0u);
}

}  // namespace
}  // namespace farvec::search
