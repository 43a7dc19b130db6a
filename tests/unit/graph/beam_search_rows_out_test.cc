// Searches of graphs of which some rows are out.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
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

/// Brings no vector of a vertex that is known to be out.
struct ListingSource : testing::GraphSource {
  template <typename Visit, typename Passed>
  Status expand_passing(std::span<const NodeId> frontier, Visit&& visit, Passed&& passed) {
    return expand(frontier, [&](NodeId id, NodeRecord record) {
      if (passed(id)) record.vector = nullptr;
      visit(id, record);
    });
  }
};
static_assert(ListSource<ListingSource>);

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

  /// Each row with this probability.
  static RowSet some_rows(std::uint64_t seed, double share) {
    Random random(seed);
    std::vector<NodeId> rows;
    for (NodeId row = 0; row < kCount; ++row) {
      if (random.uniform() < share) rows.push_back(row);
    }
    return RowSet().with(rows);
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
  /// It is known beforehand which vertices are out.
  std::vector<Neighbor> told(std::size_t query, std::uint32_t k, const RowSet* out) {
    parameters_.k = k;
    parameters_.out = out;
    parameters_.out_vertices = out;
    ListingSource source{{graph_, data_}};
    EXPECT_TRUE(beam_search(source, scorer(query), {&graph_.entry, 1}, parameters_, scratch_).ok());
    parameters_.out_vertices = nullptr;
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

/// The oracle: all that was met, sorted anew for every vertex that is read. The places of those
/// that were read and are out are not counted.
struct NaiveSearch {
  const Graph& graph;
  const testing::ExactScorer scorer;
  const RowSet& out;
  std::map<std::pair<float, NodeId>, bool> met = {};  ///< whether it was read
  std::uint32_t hops = 0;

  void meet(NodeId id) {
    float distance = 0;
    scorer.estimate(&id, 1, &distance);
    met.try_emplace({distance, id}, false);
  }
  bool read_next(std::uint32_t list) {
    std::uint32_t places = 0;
    for (auto& [key, read] : met) {
      if (read && out.contains(key.second)) continue;
      if (++places > list) return false;
      if (read) continue;
      read = true;
      ++hops;
      for (const NodeId id : graph.neighbors(key.second)) meet(id);
      return true;
    }
    return false;
  }
  std::vector<Neighbor> search(std::uint32_t list, std::size_t k) {
    meet(graph.entry);
    while (read_next(list)) {
    }
    std::vector<Neighbor> found;
    for (const auto& [key, read] : met) {
      if (read && !out.contains(key.second) && found.size() < k) {
        found.push_back({key.second, key.first});
      }
    }
    return found;
  }
};

TEST_F(RowsOut, SteerTheSearchAndTakeNoPlaces) {
  for (const double share : {0.1, 0.5, 0.9}) {
    const RowSet out = some_rows(11, share);
    for (const std::uint32_t list : {10u, 40u}) {
      parameters_.list = list;
      for (std::size_t query = 0; query < kQueries; ++query) {
        NaiveSearch naive{graph_, scorer(query), out};
        const std::vector<Neighbor> expected = naive.search(list, 10);
        EXPECT_EQ(expected.size(), 10u);
        EXPECT_EQ(beam(query, 10, &out), expected);
        EXPECT_EQ(scratch_.counts.hops, naive.hops);
        EXPECT_LE(scratch_.counts.passed, out.count());
        EXPECT_EQ(cache_aware(query, 10, &out), expected);
      }
    }
  }
}

/// Nothing is dropped that could matter. Hops are wider where most vertices are out, and find as
/// much.
TEST_F(RowsOut, MayBeKnownBeforeTheyAreRead) {
  std::map<double, std::uint64_t> saved;
  for (const double share : {0.1, 0.5, 0.9, 0.99}) {
    const RowSet out = some_rows(13, share);
    for (const std::uint32_t list : {10u, 40u}) {
      parameters_.list = list;
      for (std::size_t query = 0; query < kQueries; ++query) {
        const std::vector<Neighbor> expected = beam(query, 10, &out);
        const BeamCounts counts = scratch_.counts;
        const std::vector<Neighbor> found = told(query, 10, &out);
        if (share < 0.6) {
          EXPECT_EQ(found, expected);
          EXPECT_EQ(scratch_.counts.hops, counts.hops);
          EXPECT_EQ(scratch_.counts.estimates, counts.estimates);
          EXPECT_EQ(scratch_.counts.passed, counts.passed);
          continue;
        }
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          EXPECT_LE(found[i].distance, expected[i].distance);
        }
        // Where hardly more are left than the list has places, all vertices are read one by one.
        EXPECT_LE(scratch_.counts.hops, counts.hops);
        saved[share] += counts.hops - scratch_.counts.hops;
        EXPECT_LE(scratch_.counts.passed, counts.passed * 5 / 4 + 16);
      }
    }
  }
  EXPECT_GT(saved[0.9], 0u);
}

TEST_F(RowsOut, ThatLieTogetherHideNothing) {
  for (const std::uint32_t width : {1u, 4u}) {
    parameters_.width = width;
    parameters_.list = 40;
    for (std::size_t query = 0; query < kQueries; ++query) {
      std::vector<NodeId> rows;
      const RowSet none;
      for (const Neighbor& near : NaiveSearch{graph_, scorer(query), none}.search(kCount, 500)) {
        rows.push_back(near.id);
      }
      const RowSet out = RowSet().with(rows);
      const std::vector<Neighbor> expected = NaiveSearch{graph_, scorer(query), out}.search(40, 10);
      EXPECT_EQ(expected.size(), 10u);
      EXPECT_EQ(cache_aware(query, 10, &out), expected);
      EXPECT_TRUE(width > 1 || told(query, 10, &out) == expected);
      const std::vector<Neighbor> found = beam(query, 10, &out);
      ASSERT_EQ(found.size(), 10u);
      EXPECT_TRUE(width > 1 || found == expected);
      EXPECT_GE(scratch_.counts.passed, 400u);
    }
  }
}

TEST_F(RowsOut, RowsFromTheEndOnAreOutToo) {
  parameters_.rows_end = 1000;
  parameters_.list = kCount;
  for (const Neighbor& near : beam(0, 50, &half_)) {
    EXPECT_TRUE(near.id < 1000 && !half_.contains(near.id)) << near.id;
  }
}

TEST_F(RowsOut, ASearchEndsWhenItHasPassedAsManyAsItMay) {
  parameters_.most_passed = 7;
  parameters_.list = kCount;
  beam(0, 10, &half_);
  EXPECT_TRUE(scratch_.cut_short);
  EXPECT_EQ(scratch_.counts.passed, 7u);
  told(0, 10, &half_);
  EXPECT_TRUE(scratch_.cut_short);
  EXPECT_EQ(scratch_.counts.passed, 7u);
  parameters_.most_passed = kCount;
  beam(0, 10, &half_);
  EXPECT_FALSE(scratch_.cut_short);
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
    EXPECT_EQ(told(query, 25, &half_), left(all, half_, 25));
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
  EXPECT_EQ(told(3, 10, &others), found);
  const RowSet all = others.with(std::vector<NodeId>{77});
  EXPECT_TRUE(beam(3, 10, &all).empty());
  EXPECT_TRUE(told(3, 10, &all).empty());
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
