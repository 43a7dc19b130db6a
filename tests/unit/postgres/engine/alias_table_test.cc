#include "postgres/engine/alias_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "base/error.h"

namespace farvec::postgres {
namespace {

using Vids = std::vector<std::uint64_t>;
constexpr std::uint64_t kNone = AliasTable::kNone;
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

Vids rows_of(const AliasTable& table, std::uint64_t vertex, std::size_t most = kAll) {
  Vids rows;
  table.for_rows(vertex, most, [&](std::uint64_t vid) { rows.push_back(vid); });
  return rows;
}

layout::AliasList sorted(layout::AliasList list) {
  std::sort(list.aliases.begin(), list.aliases.end());
  std::sort(list.gone.begin(), list.gone.end());
  return list;
}

TEST(AliasTable, ARowThatIsNotKnownStandsForItself) {
  AliasTable table;
  EXPECT_TRUE(table.is_empty());
  EXPECT_EQ(table.vertex_of(5), 5u);
  EXPECT_EQ(table.rows_of(5), 1u);
  EXPECT_EQ(rows_of(table, 5), Vids({5}));
  EXPECT_EQ(rows_of(table, 5, 0), Vids());
  EXPECT_FALSE(table.comes(5));
  EXPECT_FALSE(table.goes(5));
  EXPECT_TRUE(table.take_idle().empty());
  EXPECT_EQ(table.bytes(), 0u);
}

TEST(AliasTable, TheRowThatCameLastIsFirst) {
  AliasTable table;
  for (const std::uint64_t vid : {7, 9, 8}) {
    ASSERT_TRUE(table.can_add(vid, 5));
    table.add(vid, 5);
  }
  EXPECT_EQ(rows_of(table, 5), Vids({8, 9, 7, 5}));
  EXPECT_EQ(rows_of(table, 5, 2), Vids({8, 9}));
  EXPECT_EQ(table.rows_of(5), 4u);
  for (const std::uint64_t vid : {5, 7, 8, 9}) EXPECT_EQ(table.vertex_of(vid), 5u);
  EXPECT_EQ(table.aliases(), 3u);
}

TEST(AliasTable, WhatCannotBeIsNotAdded) {
  AliasTable table;
  table.add(7, 5);
  EXPECT_FALSE(table.can_add(7, 5)) << "it is one";
  EXPECT_FALSE(table.can_add(7, 6)) << "it is one";
  EXPECT_FALSE(table.can_add(9, 7)) << "its vector is that of 5";
  EXPECT_FALSE(table.can_add(5, 4)) << "others have its vector";
  EXPECT_FALSE(table.can_add(9, 9));
  EXPECT_FALSE(table.can_add(9, 10)) << "a mark between them would lose it";
  EXPECT_FALSE(table.can_add(std::uint64_t{1} << 62, 5));
  EXPECT_FALSE(table.can_add(kNone, 5));
  EXPECT_TRUE(table.can_add((std::uint64_t{1} << 62) - 1, 5));
}

TEST(AliasTable, AHostMayHaveManyAliases) {
  AliasTable table;
  for (std::uint64_t vid = 2; vid <= 300'000; ++vid) table.add(vid, 1);
  EXPECT_EQ(table.rows_of(1), 300'000u);
  EXPECT_EQ(rows_of(table, 1, 2), Vids({300'000, 299'999}));
  // The one that came first has the whole list before it.
  for (std::uint64_t vid = 2; vid < 300'000; ++vid) ASSERT_FALSE(table.goes(vid));
  EXPECT_EQ(rows_of(table, 1), Vids({300'000, 1}));
}

TEST(AliasTable, TheVertexStaysWhileAnyOfItsRowsDoes) {
  AliasTable table;
  table.add(7, 5);
  table.add(8, 5);
  EXPECT_TRUE(table.goes(5)) << "its vertex is not to be erased now";
  EXPECT_EQ(table.vertex_of(5), kNone);
  EXPECT_EQ(table.vertex_of(7), 5u);
  EXPECT_EQ(rows_of(table, 5), Vids({8, 7}));
  EXPECT_EQ(table.gone(), 1u);
  EXPECT_FALSE(table.goes(8));
  EXPECT_EQ(rows_of(table, 5), Vids({7}));
  EXPECT_TRUE(table.take_idle().empty());
  EXPECT_FALSE(table.goes(7));
  EXPECT_EQ(rows_of(table, 5), Vids());
  EXPECT_EQ(table.rows_of(5), 0u);
  EXPECT_EQ(table.take_idle(), Vids({5}));
  EXPECT_TRUE(table.take_idle().empty());
  EXPECT_EQ(table.list(), (layout::AliasList{{}, {5}}));
  EXPECT_TRUE(table.forget(5)) << "nobody needs its vertex";
  EXPECT_TRUE(table.is_empty());
  EXPECT_EQ(table.aliases(), 0u);
  EXPECT_EQ(table.gone(), 0u);
}

TEST(AliasTable, AHostThatLivesIsForgottenAlone) {
  AliasTable table;
  table.add(7, 5);
  EXPECT_FALSE(table.goes(7));
  EXPECT_TRUE(table.knows(5)) << "a file may still say that 7 has its vector";
  EXPECT_EQ(table.take_idle(), Vids({5}));
  EXPECT_FALSE(table.forget(5)) << "its vertex stays";
  EXPECT_FALSE(table.knows(5));
}

TEST(AliasTable, AHostThatGetsRowsAgainIsNotForgotten) {
  AliasTable table;
  table.add(7, 5);
  (void)table.goes(5);
  (void)table.goes(7);
  const Vids idle = table.take_idle();
  table.add(9, 5);
  EXPECT_FALSE(table.forget(5));
  EXPECT_EQ(rows_of(table, 5), Vids({9}));
  (void)table.goes(9);
  EXPECT_EQ(table.take_idle(), Vids({5}));
  table.give_back({5});
  EXPECT_EQ(table.take_idle(), Vids({5}));
}

TEST(AliasTable, ARowThatComesAgainIsThere) {
  AliasTable table;
  table.add(7, 5);
  EXPECT_TRUE(table.comes(7));
  EXPECT_FALSE(table.comes(5)) << "its vector may be inserted again";
  (void)table.goes(5);
  EXPECT_TRUE(table.comes(5));
  EXPECT_EQ(rows_of(table, 5), Vids({7, 5}));
  EXPECT_EQ(table.gone(), 0u);
}

TEST(AliasTable, AListIsTakenUpToAMark) {
  AliasTable table;
  table.take({{{12, 5}, {7, 5}, {9, 6}, {8, 5}}, {5, 6}}, 9);
  EXPECT_EQ(rows_of(table, 5), Vids({8, 7}));
  EXPECT_EQ(rows_of(table, 6), Vids()) << "9 comes again";
  EXPECT_EQ(table.take_idle(), Vids({6}));
  EXPECT_EQ(sorted(table.list()), (layout::AliasList{{{7, 5}, {8, 5}}, {5, 6}}));
  AliasTable other;
  EXPECT_THROW(other.take({{{7, 5}, {9, 7}}, {}}, 100), Error);
}

/// The oracle: which row has which host, and which rows there are.
TEST(AliasTable, IsWhatAMapIs) {
  std::mt19937_64 random(1);
  AliasTable table;
  std::map<std::uint64_t, std::uint64_t> host_of;
  std::set<std::uint64_t> vertices;  // hosts that are known
  std::set<std::uint64_t> gone;
  std::uint64_t last = 40;
  for (int turn = 0; turn < 50'000; ++turn) {
    if (random() % 2 == 0) {
      const std::uint64_t host = random() % 40;
      if (!table.can_add(++last, host)) continue;
      table.add(last, host);
      host_of[last] = host;
      vertices.insert(host);
    } else if (random() % 8 == 0) {
      for (const std::uint64_t host : table.take_idle()) {
        const bool is_idle =
            std::ranges::none_of(host_of, [&](const auto& entry) { return entry.second == host; });
        EXPECT_EQ(table.forget(host), is_idle && gone.contains(host));
        if (is_idle) vertices.erase(host);
        if (is_idle) gone.erase(host);
      }
    } else {
      const std::uint64_t vid = random() % (last + 1);
      const bool is_host = vertices.contains(vid);
      EXPECT_EQ(table.goes(vid), is_host);
      if (is_host) gone.insert(vid);
      host_of.erase(vid);
    }
    const std::uint64_t vid = random() % (last + 1);
    const std::uint64_t vertex = host_of.contains(vid) ? host_of[vid]
                                 : gone.contains(vid)  ? kNone
                                                       : vid;
    ASSERT_EQ(table.vertex_of(vid), vertex);
    const std::uint64_t host = random() % 40;
    std::set<std::uint64_t> rows;
    for (const auto& [row, its] : host_of) {
      if (its == host) rows.insert(row);
    }
    if (!gone.contains(host)) rows.insert(host);
    const Vids found = rows_of(table, host);
    ASSERT_EQ(std::set<std::uint64_t>(found.begin(), found.end()), rows);
    ASSERT_EQ(found.size(), rows.size());
    ASSERT_EQ(table.rows_of(host), rows.size());
    ASSERT_EQ(table.aliases(), host_of.size());
    ASSERT_EQ(table.gone(), gone.size());
    if (host_of.size() > 3000) break;
  }
  AliasTable copy;
  copy.take(table.list(), kNone);
  EXPECT_EQ(sorted(copy.list()), sorted(table.list()));
}

}  // namespace
}  // namespace farvec::postgres
