// Searches of graphs of which some rows are out.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "graph/beam_search.h"
#include "graph/cache_aware_search.h"
#include "tests/unit/graph/search_fixture.h"

namespace farvec::graph {
namespace {

/// All of it is in memory.
struct ResidentSource : testing::GraphSource {
  bool resident(NodeId) const { return true; }
  void prefetch(NodeId) const {}
};

class RowsOut : public testing::SearchFixture {
 protected:
  RowsOut() {
    Random random(7);
    std::vector<NodeId> rows;
    for (NodeId row = 0; row < kCount; ++row) {
      if (row == graph_.entry || random.below(2) == 0) rows.push_back(row);
    }
    half_ = half_.with(rows);
  }

  std::vector<Neighbor> results() const {
    std::vector<Neighbor> all;
    for (std::uint32_t i = 0; i < scratch_.results.size(); ++i) all.push_back(scratch_.results[i]);
    return all;
  }
  std::vector<Neighbor> beam(std::size_t query, std::uint32_t k, const RowSet* out) {
    parameters_.k = k;
    parameters_.out = out;
    testing::GraphSource source{graph_, data_};
    EXPECT_TRUE(beam_search(source, scorer(query), {&graph_.entry, 1}, parameters_, scratch_).ok());
    return results();
  }
  std::vector<Neighbor> cache_aware(std::size_t query, std::uint32_t k, const RowSet* out) {
    parameters_.k = k;
    parameters_.out = out;
    ResidentSource source{{graph_, data_}};
    EXPECT_TRUE(
        cache_aware_search(source, scorer(query), {&graph_.entry, 1}, parameters_, scratch_).ok());
    return results();
  }
  /// The first k of `all` that are not out.
  static std::vector<Neighbor> left(const std::vector<Neighbor>& all, const RowSet& out,
                                    std::size_t k) {
    std::vector<Neighbor> result;
    for (const Neighbor& one : all) {
      if (!out.contains(one.id) && result.size() < k) result.push_back(one);
    }
    return result;
  }

  RowSet half_;
};

TEST_F(RowsOut, AreLeftOutOfWhatIsFoundAndNothingElseChanges) {
  for (const std::uint32_t width : {1u, 3u}) {
    parameters_.width = width;
    for (std::size_t query = 0; query < kQueries; ++query) {
      const std::vector<Neighbor> all = beam(query, parameters_.list, nullptr);
      const BeamCounts counts = scratch_.counts;
      ASSERT_EQ(left(all, half_, 10).size(), 10u);
      EXPECT_EQ(beam(query, 10, &half_), left(all, half_, 10));
      EXPECT_EQ(scratch_.counts.hops, counts.hops);
      EXPECT_EQ(scratch_.counts.estimates, counts.estimates);
      EXPECT_EQ(scratch_.counts.distances, counts.distances);
      EXPECT_EQ(cache_aware(query, 10, &half_),
                left(cache_aware(query, parameters_.list, nullptr), half_, 10));
    }
  }
}

TEST_F(RowsOut, WithAListOfAllVerticesTheNearestOfTheOthersAreFound) {
  parameters_.list = kCount;
  for (std::size_t query = 0; query < kQueries; ++query) {
    std::vector<Neighbor> all;
    const testing::ExactScorer exact = scorer(query);
    for (NodeId row = 0; row < kCount; ++row) {
      all.push_back({row, 0});
      exact.estimate(&row, 1, &all.back().distance);
    }
    std::sort(all.begin(), all.end(), [](const Neighbor& a, const Neighbor& b) {
      return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
    });
    EXPECT_EQ(beam(query, 25, &half_), left(all, half_, 25));
  }
}

TEST_F(RowsOut, OneThatIsAloneInLeavesOneResult) {
  parameters_.list = kCount;
  std::vector<NodeId> rows;
  for (NodeId row = 0; row < kCount; ++row) {
    if (row != 77) rows.push_back(row);
  }
  const RowSet others = RowSet().with(rows);
  const std::vector<Neighbor> found = beam(3, 10, &others);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, 77u);
  const RowSet all = others.with(std::vector<NodeId>{77});
  EXPECT_TRUE(beam(3, 10, &all).empty());
  EXPECT_TRUE(cache_aware(3, 10, &all).empty());
}

TEST_F(RowsOut, AnEmptySetIsAsNone) {
  const RowSet none;
  for (std::size_t query = 0; query < kQueries; ++query) {
    const std::vector<Neighbor> expected = beam(query, 10, nullptr);
    EXPECT_EQ(beam(query, 10, &none), expected);
  }
}

}  // namespace
}  // namespace farvec::graph
