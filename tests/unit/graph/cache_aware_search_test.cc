#include "graph/cache_aware_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "base/random.h"
#include "graph/beam_search.h"
#include "tests/unit/graph/search_fixture.h"

namespace farvec::graph {
namespace {

/// A graph of which some records are resident: those that `memory` holds, and those that were
/// prefetched `latency` hops ago.
struct PartlyResident : testing::GraphSource {
  PartlyResident(const Graph& records, VectorView vectors) : GraphSource{records, vectors} {}

  std::set<NodeId> memory;
  std::size_t latency = 1;
  StatusCode failure = StatusCode::ok;  ///< of every read of a record that is not resident

  std::vector<std::pair<NodeId, std::size_t>> loads;  ///< and the hop of the prefetch
  std::vector<NodeId> expanded;
  std::size_t hop = 0;
  std::size_t waits = 0;

  bool resident(NodeId id) {
    return memory.contains(id) || std::any_of(loads.begin(), loads.end(), [&](const auto& load) {
             return load.first == id && hop >= load.second + latency;
           });
  }
  void prefetch(NodeId id) {
    const auto same = [&](const auto& load) { return load.first == id; };
    if (memory.contains(id) || std::any_of(loads.begin(), loads.end(), same)) return;
    loads.emplace_back(id, hop);
  }

  template <typename Visit>
  Status expand(std::span<const NodeId> frontier, Visit&& visit) {
    for (NodeId id : frontier) {
      expanded.push_back(id);
      if (resident(id)) continue;
      ++waits;
      memory.insert(id);
      if (failure != StatusCode::ok) return {failure, "the disk failed"};
    }
    ++hop;
    return GraphSource::expand(frontier, visit);
  }
};

class CacheAwareSearch : public testing::SearchFixture {
 protected:
  CacheAwareSearch() { parameters_.width = 4; }

  PartlyResident source() const { return {graph_, data_}; }
  /// Holds each vertex with this probability.
  PartlyResident source(double share) const {
    PartlyResident result = source();
    Random random(5);
    for (NodeId id = 0; id < kCount; ++id) {
      if (random.uniform() < share) result.memory.insert(id);
    }
    return result;
  }

  std::vector<Neighbor> results() const {
    std::vector<Neighbor> all;
    for (std::uint32_t i = 0; i < scratch_.results.size(); ++i) all.push_back(scratch_.results[i]);
    return all;
  }
  Status search(PartlyResident& source, std::size_t query) {
    return cache_aware_search(source, scorer(query), {&graph_.entry, 1}, parameters_, scratch_);
  }
  std::vector<Neighbor> best_first(PartlyResident& source, std::size_t query) {
    BeamParameters parameters = parameters_;
    parameters.width = 1;
    EXPECT_TRUE(beam_search(source, scorer(query), {&graph_.entry, 1}, parameters, scratch_).ok());
    return results();
  }
};

TEST_F(CacheAwareSearch, IsBestFirstWhenEverythingIsResident) {
  for (std::size_t query = 0; query < kQueries; ++query) {
    PartlyResident all = source(2.0);
    PartlyResident again = all;
    ASSERT_TRUE(search(all, query).ok());
    const auto found = results();
    const BeamCounts counts = scratch_.counts;
    EXPECT_EQ(found, best_first(again, query));
    EXPECT_EQ(all.expanded, again.expanded);
    EXPECT_EQ(counts.hops, scratch_.counts.hops);
    EXPECT_EQ(counts.estimates, scratch_.counts.estimates);
    EXPECT_EQ(counts.pivots, 0u);
    EXPECT_EQ(counts.stalls, 0u);
    EXPECT_TRUE(all.loads.empty());
  }
}

TEST_F(CacheAwareSearch, WaitsOnlyWhenNoneOfTheNearestIsResident) {
  for (double share : {0.0, 0.2, 0.7}) {
    for (std::size_t latency : {1, 3, 1000}) {
      PartlyResident some = source(share);
      some.latency = latency;
      ASSERT_TRUE(search(some, 1).ok());
      EXPECT_LE(some.waits, scratch_.counts.stalls) << "it waited although it need not have";
      EXPECT_EQ(scratch_.counts.hops, some.expanded.size());
      EXPECT_EQ(scratch_.counts.distances, some.expanded.size());
      const std::set<NodeId> distinct(some.expanded.begin(), some.expanded.end());
      EXPECT_EQ(distinct.size(), some.expanded.size()) << "no vertex is expanded twice";
      if (share > 0.5) {
        EXPECT_GT(scratch_.counts.pivots, 0u);
      }
    }
  }
}

TEST_F(CacheAwareSearch, FindsAsMuchAsBestFirst) {
  std::size_t same = 0;
  for (std::size_t query = 0; query < kQueries; ++query) {
    PartlyResident some = source(0.3);
    some.latency = 2;
    ASSERT_TRUE(search(some, query).ok());
    const auto found = results();
    for (const Neighbor& n : best_first(some, query)) {
      same += std::find(found.begin(), found.end(), n) != found.end() ? 1 : 0;
    }
  }
  EXPECT_GE(same, 198u) << "of 200: the order of expansion hardly changes what is found";
}

TEST_F(CacheAwareSearch, PrefetchedRecordsAreThereWhenTheirTurnComes) {
  PartlyResident none = source();
  ASSERT_TRUE(search(none, 2).ok());
  const std::size_t hops = none.expanded.size();
  EXPECT_LT(none.waits, hops * 3 / 4);
  EXPECT_GE(none.loads.size(), none.waits);

  parameters_.width = 1;
  PartlyResident alone = source();
  ASSERT_TRUE(search(alone, 2).ok());
  EXPECT_EQ(alone.waits, alone.expanded.size()) << "a choice of one is no choice";
}

TEST_F(CacheAwareSearch, BeamSearchPrefetchesTheNearest) {
  BeamParameters parameters = parameters_;
  parameters.width = 1;
  PartlyResident without = source();
  ASSERT_TRUE(beam_search(without, scorer(4), {&graph_.entry, 1}, parameters, scratch_).ok());
  const auto expected = results();
  EXPECT_TRUE(without.loads.empty());
  EXPECT_EQ(without.waits, without.expanded.size());

  parameters.prefetch = 4;
  PartlyResident with = source();
  ASSERT_TRUE(beam_search(with, scorer(4), {&graph_.entry, 1}, parameters, scratch_).ok());
  EXPECT_EQ(results(), expected);
  EXPECT_EQ(with.expanded, without.expanded);
  EXPECT_LT(with.waits, without.waits);
  EXPECT_GE(with.loads.size(), with.expanded.size());
}

TEST_F(CacheAwareSearch, EndsWithTheErrorOfItsSource) {
  PartlyResident broken = source();
  broken.failure = StatusCode::data_loss;
  EXPECT_EQ(search(broken, 0).code(), StatusCode::data_loss);
  EXPECT_EQ(broken.expanded.size(), 1u);

  parameters_.node_count = graph_.entry + 1;
  PartlyResident all = source(2.0);
  EXPECT_EQ(search(all, 0).code(), StatusCode::data_loss) << "neighbours beyond the vertices";
}

TEST_F(CacheAwareSearch, EndsAtOnceWithoutEntries) {
  PartlyResident all = source(2.0);
  ASSERT_TRUE(cache_aware_search(all, scorer(0), {}, parameters_, scratch_).ok());
  EXPECT_EQ(scratch_.results.size(), 0u);
  EXPECT_EQ(scratch_.counts.hops, 0u);
}

}  // namespace
}  // namespace farvec::graph
