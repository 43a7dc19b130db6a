#include "client/growing_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/status_error.h"

namespace farvec::client {
namespace {

search::AskedSearch first_search() {
  search::AskedSearch asked;
  asked.k = 0;
  asked.list = 64;
  asked.probing.clusters = 16;
  return asked;
}

/// Asks until there is no more, and returns how many rows each search was for. The index has `all`
/// rows that can be found.
std::vector<std::uint32_t> sizes_until_the_end(GrowingSearch& searches, std::size_t all) {
  std::vector<std::uint32_t> sizes;
  while (!searches.is_last() && sizes.size() < 100) {
    const search::AskedSearch asked = searches.next(1);
    EXPECT_GE(asked.list, asked.k);
    sizes.push_back(asked.k);
    searches.came(std::min<std::size_t>(asked.k, all), 0);
  }
  return sizes;
}

TEST(GrowingSearch, AsksForTwiceAsManyUntilFewerCome) {
  GrowingSearch searches(first_search(), {.k = 1024, .list = 1024}, 0);
  EXPECT_EQ(sizes_until_the_end(searches, 300), (std::vector<std::uint32_t>{50, 100, 200, 400}));
  EXPECT_TRUE(searches.complete());
}

TEST(GrowingSearch, EndsWhereAllRowsOfAnIndexHaveCome) {
  GrowingSearch searches(first_search(), {.vectors = 100, .k = 1024, .list = 1024}, 0);
  EXPECT_EQ(sizes_until_the_end(searches, 100), (std::vector<std::uint32_t>{50, 100}));
  EXPECT_TRUE(searches.complete());
  EXPECT_TRUE(GrowingSearch(first_search(), {.vectors = 0}, 0).complete());
}

TEST(GrowingSearch, SaysWhatLeavesNoRoom) {
  GrowingSearch searches(first_search(), {.k = 1024, .list = 120}, 0);
  EXPECT_EQ(sizes_until_the_end(searches, 300), (std::vector<std::uint32_t>{50, 100, 120}));
  EXPECT_FALSE(searches.complete());
  try {
    (void)searches.next(1);
    FAIL() << "there is no room";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.code, StatusCode::resource_exhausted);
    EXPECT_NE(std::string(error.what()).find("--max-list"), std::string::npos);
  }
}

TEST(GrowingSearch, BeginsWithAsManyAsTheCallerWants) {
  GrowingSearch searches(first_search(), {.k = 1024, .list = 1024}, 0);
  EXPECT_EQ(searches.next(300).k, 300u);
  searches.came(300, 0);
  EXPECT_EQ(searches.next(301).k, 600u);
  searches.came(600, 0);
  EXPECT_EQ(searches.next(5000).k, 1024u);
}

TEST(GrowingSearch, ProbesMoreClustersWhereFewerRowsCome) {
  search::AskedSearch first = first_search();
  first.probing.clusters = 1;
  GrowingSearch searches(first, {.kind = layout::IndexKind::cluster, .k = 1024, .clusters = 6}, 6);
  std::vector<std::uint32_t> probes;
  while (!searches.is_last() && probes.size() < 100) {
    const search::AskedSearch asked = searches.next(1);
    probes.push_back(asked.probing.clusters);
    searches.came(20, asked.probing.clusters);
  }
  EXPECT_EQ(probes, (std::vector<std::uint32_t>{1, 2, 4, 6}));
  EXPECT_TRUE(searches.complete());
}

TEST(GrowingSearch, WithinADistanceItEndsOnlyWhereAllClustersWereProbed) {
  search::AskedSearch first = first_search();
  first.within = 2;
  first.probing.clusters = 4;
  const search::SearchBounds most{.kind = layout::IndexKind::cluster, .k = 1024, .clusters = 4};
  GrowingSearch some(first, most, 9);
  some.came(20, some.next(1).probing.clusters);
  EXPECT_TRUE(some.is_last());
  EXPECT_FALSE(some.complete());
  GrowingSearch all(first, most, 4);
  all.came(20, all.next(1).probing.clusters);
  EXPECT_TRUE(all.complete());
}

}  // namespace
}  // namespace farvec::client
