#include "search/core/search_parameters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

namespace farvec::search {
namespace {

using layout::IndexKind;

constexpr SearchBounds kGraph{.vectors = 1000, .k = 100, .list = 200, .width = 8};
constexpr SearchBounds kClusters{
    .kind = IndexKind::cluster, .vectors = 1000, .k = 100, .clusters = 50};

SearchFault fault_of_graph(std::uint32_t k, std::uint32_t list, std::uint32_t width) {
  return find_fault(k, GraphChoice{list, width}, kGraph);
}

SearchFault fault_of_probing(std::uint32_t k, std::uint32_t clusters, float prune_ratio = 1) {
  return find_fault(k, ProbeChoice{clusters, prune_ratio}, kClusters);
}

TEST(SearchParameters, HoldWhatTheyWereMadeOf) {
  const auto graph = SearchParameters::make(10, GraphChoice{.list = 40, .width = 4});
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph.value().k(), 10u);
  EXPECT_EQ(graph.value().graph().list, 40u);
  EXPECT_EQ(graph.value().graph().width, 4u);
  const auto probing =
      SearchParameters::make(7, ProbeChoice{.clusters = 3, .prune_ratio = 1.5f, .dedup = false});
  ASSERT_TRUE(probing.ok());
  EXPECT_EQ(probing.value().k(), 7u);
  EXPECT_EQ(probing.value().probing().clusters, 3u);
  EXPECT_EQ(probing.value().probing().prune_ratio, 1.5f);
  EXPECT_FALSE(probing.value().probing().dedup);
}

TEST(SearchParameters, WithoutAnyAreTheSmallestSearchOfAGraph) {
  const SearchParameters smallest;
  EXPECT_TRUE(smallest.check({.vectors = 1, .k = 1, .list = 1, .width = 1}).ok());
  EXPECT_EQ(smallest.check({.vectors = 0}).code(), StatusCode::invalid_argument);
}

TEST(SearchParameters, CannotBeMadeOfAWrongCombination) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  const auto made = [](std::uint32_t k, const SearchChoice& choice) {
    return SearchParameters::make(k, choice).status().code();
  };
  EXPECT_EQ(made(1, GraphChoice{1, 1}), StatusCode::ok);
  EXPECT_EQ(made(kMost, GraphChoice{kMost, graph::kMaxWidth}), StatusCode::ok);
  EXPECT_EQ(made(0, GraphChoice{1, 1}), StatusCode::invalid_argument);
  EXPECT_EQ(made(2, GraphChoice{1, 1}), StatusCode::invalid_argument);
  EXPECT_EQ(made(1, GraphChoice{1, 0}), StatusCode::invalid_argument);
  EXPECT_EQ(made(1, GraphChoice{1, graph::kMaxWidth + 1}), StatusCode::invalid_argument);
  EXPECT_EQ(made(kMost, ProbeChoice{.clusters = kMost, .prune_ratio = 1}), StatusCode::ok);
  EXPECT_EQ(made(0, ProbeChoice{.clusters = 1}), StatusCode::invalid_argument);
  EXPECT_EQ(made(1, ProbeChoice{.clusters = 0}), StatusCode::invalid_argument);
  for (const float ratio : {std::nextafter(1.0f, 0.0f), 0.0f, -2.0f, std::nanf("")}) {
    EXPECT_EQ(made(1, ProbeChoice{.clusters = 1, .prune_ratio = ratio}),
              StatusCode::invalid_argument)
        << ratio;
  }
}

TEST(SearchBounds, OfAGraphAreHeldToTheLast) {
  EXPECT_EQ(fault_of_graph(100, 200, 8), SearchFault::none);
  EXPECT_EQ(fault_of_graph(0, 200, 8), SearchFault::k_zero);
  EXPECT_EQ(fault_of_graph(101, 200, 8), SearchFault::k_above_bound);
  EXPECT_EQ(fault_of_graph(1001, 2000, 8), SearchFault::k_above_vectors);
  EXPECT_EQ(fault_of_graph(100, 99, 8), SearchFault::list_below_k);
  EXPECT_EQ(fault_of_graph(100, 201, 8), SearchFault::list_above_bound);
  EXPECT_EQ(fault_of_graph(100, 200, 9), SearchFault::width_above_bound);
  EXPECT_EQ(fault_of_graph(100, 200, 0), SearchFault::width_out_of_range);
  EXPECT_EQ(fault_of_graph(100, 200, graph::kMaxWidth + 1), SearchFault::width_out_of_range);
}

TEST(SearchBounds, OfClustersAreHeldToTheLast) {
  EXPECT_EQ(fault_of_probing(100, 50), SearchFault::none);
  EXPECT_EQ(fault_of_probing(0, 50), SearchFault::k_zero);
  EXPECT_EQ(fault_of_probing(101, 50), SearchFault::k_above_bound);
  EXPECT_EQ(fault_of_probing(1001, 50), SearchFault::k_above_vectors);
  EXPECT_EQ(fault_of_probing(100, 0), SearchFault::clusters_zero);
  EXPECT_EQ(fault_of_probing(100, 51), SearchFault::clusters_above_bound);
  EXPECT_EQ(fault_of_probing(100, 50, 0.5f), SearchFault::prune_ratio_below_one);
  EXPECT_EQ(fault_of_probing(100, 50, std::nanf("")), SearchFault::prune_ratio_below_one);
}

/// Clients and users fix one thing after the other: which is named first is part of the interface.
TEST(SearchBounds, NameTheFirstOfSeveralFaults) {
  EXPECT_EQ(fault_of_graph(1001, 0, 0), SearchFault::k_above_vectors);
  EXPECT_EQ(fault_of_graph(10, 0, 0), SearchFault::list_below_k);
  EXPECT_EQ(fault_of_graph(10, 5000, 0), SearchFault::list_above_bound);
  EXPECT_EQ(fault_of_probing(0, 0, 0), SearchFault::k_zero);
  EXPECT_EQ(fault_of_probing(10, 0, 0), SearchFault::prune_ratio_below_one);
}

TEST(SearchBounds, RefuseAnotherKindOfIndex) {
  EXPECT_EQ(find_fault(10, ProbeChoice{.clusters = 1}, kGraph), SearchFault::wrong_kind);
  EXPECT_EQ(find_fault(10, GraphChoice{.list = 20}, kClusters), SearchFault::wrong_kind);
  const auto graph = SearchParameters::make(10, GraphChoice{.list = 20}).value();
  EXPECT_TRUE(graph.check(kGraph).ok());
  EXPECT_EQ(graph.check(kClusters).code(), StatusCode::invalid_argument);
  EXPECT_FALSE(SearchParameters::make(10, ProbeChoice{.clusters = 1}, kGraph).ok());
}

TEST(SearchFaults, EachHasItsWords) {
  std::set<std::string> words;
  for (int fault = 0; fault <= static_cast<int>(SearchFault::clusters_above_bound); ++fault) {
    const Status status = to_status(static_cast<SearchFault>(fault));
    EXPECT_EQ(status.ok(), fault == 0);
    EXPECT_TRUE(words.insert(status.message()).second) << status.message();
  }
}

TEST(SearchParametersDeathTest, AskingForTheOtherKindIsABrokenInvariant) {
  const auto probing = SearchParameters::make(1, ProbeChoice{.clusters = 1}).value();
  EXPECT_DEATH((void)probing.graph(), "another kind");
}

}  // namespace
}  // namespace farvec::search
