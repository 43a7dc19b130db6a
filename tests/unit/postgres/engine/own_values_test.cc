#include "postgres/engine/own_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace farvec::postgres {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(OwnValues, KnowWhichRowsDiffer) {
  OwnValues own;
  EXPECT_TRUE(own.find(7).empty());
  EXPECT_FALSE(own.differs(7));
  own.add(7, 1, bytes_of("seven"), true);
  own.add(8, 1, bytes_of("eight"), false);
  EXPECT_EQ(text_of(own.find(7)), "seven");
  EXPECT_TRUE(own.differs(7));
  EXPECT_FALSE(own.differs(8));
  EXPECT_EQ(own.differing_from(1), 1u);
  EXPECT_EQ(own.differing_from(7), 0u);
  own.vertex_has(7, bytes_of("seven"));
  own.vertex_has(8, bytes_of("seven"));
  own.vertex_has(9, bytes_of("seven"));
  EXPECT_FALSE(own.differs(7));
  EXPECT_TRUE(own.differs(8));
  EXPECT_EQ(own.differing(), 1u);
  own.erase(8);
  own.erase(8);
  EXPECT_EQ(own.differing_from(1), 0u);
  EXPECT_EQ(text_of(own.find(7)), "seven");
}

/// One row after the other comes, goes, or has another vertex, beside a map.
TEST(OwnValues, AreThoseOfAMap) {
  struct Row {
    std::uint64_t host;
    std::string tuple;
    bool differs;
  };
  std::mt19937 generator(7);
  OwnValues own;
  std::map<std::uint64_t, Row> rows;
  for (std::uint64_t vid = 0; vid < 20'000; ++vid) {
    const std::string tuple(1 + generator() % 60, static_cast<char>('a' + generator() % 26));
    const Row row{generator() % 50, tuple, generator() % 2 == 0};
    own.add(vid, row.host, bytes_of(tuple), row.differs);
    rows[vid] = row;
    const auto other = rows.lower_bound(generator() % (vid + 1));
    if (generator() % 3 != 0) {
      own.erase(other->first);
      rows.erase(other);
    } else {
      own.vertex_has(other->first, bytes_of(tuple));
      other->second.differs = other->second.tuple != tuple;
    }
  }
  std::map<std::uint64_t, std::uint64_t> by_host;
  std::size_t bytes = 0;
  for (const auto& [vid, row] : rows) {
    EXPECT_EQ(text_of(own.find(vid)), row.tuple);
    EXPECT_EQ(own.differs(vid), row.differs);
    by_host[row.host] += row.differs ? 1 : 0;
    bytes += row.tuple.size();
  }
  for (const auto& [host, count] : by_host) EXPECT_EQ(own.differing_from(host), count);
  std::size_t visited = 0;
  own.for_differing([&](std::uint64_t vid, std::uint64_t host, std::span<const std::byte> tuple) {
    EXPECT_EQ(rows.at(vid).host, host);
    EXPECT_EQ(rows.at(vid).tuple, text_of(tuple));
    ++visited;
  });
  EXPECT_EQ(visited, own.differing());
  EXPECT_EQ(own.list().ids.size(), rows.size());
  EXPECT_EQ(own.list().tuples.bytes.size(), bytes);
}

TEST(OwnValues, ForgetTheTuplesOfRowsThatWent) {
  OwnValues own;
  const std::string tuple(100, 'x');
  for (std::uint64_t vid = 0; vid < 100'000; ++vid) {
    own.add(vid, 0, bytes_of(tuple), true);
    if (vid >= 10) own.erase(vid - 10);
  }
  EXPECT_LT(own.bytes(), std::size_t{400} << 10);
  const std::size_t next = own.bytes_of_next(tuple.size());
  own.add(200'000, 0, bytes_of(tuple), true);
  EXPECT_LE(own.bytes(), next);
}

}  // namespace
}  // namespace farvec::postgres
