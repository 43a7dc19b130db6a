#include "search/core/asked_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/error.h"

namespace farvec::search {
namespace {

std::string refusal(const AskedSearch& asked, const SearchBounds& limits) {
  try {
    (void)check_limits(asked, limits);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SearchLimits, OfAGraphAreSaidInOptions) {
  const SearchBounds index{.vectors = 300};
  const SearchBounds node{.vectors = 300, .k = 40, .list = 64};
  EXPECT_EQ(refusal({.k = 0}, index),
            "--k: 0 is out of range: use 1 to 300, the vectors in the index");
  EXPECT_EQ(refusal({.k = 301, .list = 400}, index),
            "--k: 301 is out of range: use 1 to 300, the vectors in the index");
  EXPECT_EQ(refusal({.k = 41}, node),
            "--k: 41 is out of range: use 1 to 40, the most that the node allows");
  EXPECT_EQ(refusal({.k = 10, .list = 9}, index),
            "--list: 9 is out of range: the list must be at least k, which is 10");
  EXPECT_EQ(refusal({.list = 65}, node),
            "--list: 65 is out of range: use 1 to 64, the most that the node allows");
  EXPECT_EQ(refusal({.width = 0}, index), "--width: 0 is out of range: use 1 to 64");
  EXPECT_EQ(refusal({.width = 65}, node), "--width: 65 is out of range: use 1 to 64");
  EXPECT_EQ(refusal({.probing = {.clusters = 0}}, index), "") << "a graph has none to probe";
}

TEST(SearchLimits, OfClustersAreSaidInOptions) {
  const SearchBounds node{
      .kind = layout::IndexKind::cluster, .vectors = 300, .k = 40, .list = 64, .clusters = 20};
  EXPECT_EQ(refusal({.k = 0}, node),
            "--k: 0 is out of range: use 1 to 40, the most that the node allows");
  EXPECT_EQ(refusal({.probing = {.clusters = 0}}, node), "--probe: 0 is out of range: use 1 to 20");
  EXPECT_EQ(refusal({.probing = {.clusters = 21}}, node),
            "--probe: 21 is out of range: use 1 to 20");
  EXPECT_EQ(refusal({.probing = {.clusters = 1, .prune_ratio = std::nanf("")}}, node),
            "--prune-ratio: nan is out of range: use 1 or more");
  EXPECT_EQ(refusal({.list = 0, .width = 0}, node), "") << "clusters have no list and no width";
}

TEST(SearchLimits, LeaveWhatIsOfTheIndexsKind) {
  const AskedSearch asked{.k = 7, .list = 30, .width = 3, .probing = {.clusters = 5}};
  const auto graph = check_limits(asked, {.vectors = 300});
  EXPECT_EQ(graph.k(), 7u);
  EXPECT_EQ(graph.graph().list, 30u);
  EXPECT_EQ(graph.graph().width, 3u);
  const auto clusters = check_limits(asked, {.kind = layout::IndexKind::cluster, .vectors = 300});
  EXPECT_EQ(clusters.k(), 7u);
  EXPECT_EQ(clusters.probing().clusters, 5u);
}

TEST(SearchLimits, KnowsThePlans) {
  EXPECT_EQ(parse_filter_plan("chosen", "--plan"), FilterPlan::chosen);
  EXPECT_EQ(parse_filter_plan("walk", "--plan"), FilterPlan::walk);
  EXPECT_EQ(parse_filter_plan("scan", "--plan"), FilterPlan::scan);
  try {
    (void)parse_filter_plan("run", "--plan");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "--plan: 'run' is no way to search: use chosen, walk or scan");
  }
}

}  // namespace
}  // namespace farvec::search
