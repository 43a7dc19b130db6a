// Searches whose records bring estimates of their neighbours along.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "graph/beam_search.h"
#include "graph/expansion.h"
#include "tests/unit/graph/search_fixture.h"

namespace farvec::graph {
namespace {

/// Exact distances as estimates, in blocks that do not divide the degree.
struct ExactNeighbors {
  static constexpr std::uint32_t kBlock = 6;

  testing::ExactScorer exact_scorer;
  std::span<const NodeId> entries;

  float entry(std::size_t i) const {
    float distance = 0;
    exact_scorer.estimate(&entries[i], 1, &distance);
    return distance;
  }
  float exact(NodeId id, const NodeRecord& record) const { return exact_scorer.exact(id, record); }
  std::uint32_t estimate(const NodeRecord& record, const NeighborBlock& block, float* out) const {
    std::uint32_t near = 0;
    for (std::uint32_t i = 0; i < kBlock; ++i) {
      const std::uint32_t at = block.number * kBlock + i;
      out[i] = -std::numeric_limits<float>::max();  // behind the last, a scorer may say anything
      if (at < record.degree) {
        const NodeId id = record.neighbor(at);
        exact_scorer.estimate(&id, 1, &out[i]);
      }
      near |= (out[i] < block.bound ? 1u : 0u) << i;
    }
    return near;
  }
};

class NeighborSearch : public testing::SearchFixture {
 protected:
  std::vector<Neighbor> results() const {
    std::vector<Neighbor> all;
    for (std::uint32_t i = 0; i < scratch_.results.size(); ++i) all.push_back(scratch_.results[i]);
    return all;
  }
};

TEST_F(NeighborSearch, WithExactEstimatesFindsWhatCodesOfVerticesFind) {
  const NodeId entries[] = {graph_.entry, (graph_.entry + 700) % kCount};
  testing::GraphSource source{graph_, data_};
  for (const std::uint32_t width : {1u, 3u}) {
    parameters_.width = width;
    for (std::size_t query = 0; query < kQueries; ++query) {
      ASSERT_TRUE(beam_search(source, scorer(query), entries, parameters_, scratch_).ok());
      const std::vector<Neighbor> expected = results();
      const BeamCounts counts = scratch_.counts;
      const ExactNeighbors neighbors{scorer(query), entries};
      ASSERT_TRUE(beam_search(source, neighbors, entries, parameters_, scratch_).ok());
      EXPECT_EQ(results(), expected);
      EXPECT_EQ(scratch_.counts.hops, counts.hops);
      EXPECT_EQ(scratch_.counts.distances, counts.distances + 2) << "those of the entries too";
      EXPECT_GE(scratch_.counts.estimates, counts.estimates) << "one for every edge that is met";
    }
  }
}

/// Estimates by hand: `said[v][i]` of the i-th neighbour of v.
struct SaidNeighbors {
  static constexpr std::uint32_t kBlock = 4;

  std::vector<float> exact_of;
  std::vector<std::vector<float>> said;

  float entry(std::size_t) const { return 100; }
  float exact(NodeId id, const NodeRecord&) const { return exact_of[id]; }
  std::uint32_t estimate(const NodeRecord& record, const NeighborBlock& block, float* out) const {
    // A record's vector is its own id here.
    NodeId self = 0;
    std::memcpy(&self, record.vector, sizeof(self));
    std::uint32_t near = 0;
    for (std::uint32_t i = 0; i < record.degree; ++i) {
      out[i] = said[self][i];
      near |= (out[i] < block.bound ? 1u : 0u) << i;
    }
    EXPECT_EQ(block.distance, exact_of[self]);
    return near;
  }
};

/// A small graph by hand.
struct SmallSource {
  std::vector<std::vector<NodeId>> neighbors;
  std::vector<NodeId> read;

  void expect(NodeId) const {}
  template <typename Visit>
  Status expand(std::span<const NodeId> frontier, Visit&& visit) {
    for (const NodeId id : frontier) {
      read.push_back(id);
      visit(id, NodeRecord{reinterpret_cast<const std::byte*>(&id),
                           reinterpret_cast<const std::byte*>(neighbors[id].data()),
                           static_cast<std::uint32_t>(neighbors[id].size())});
    }
    return {};
  }
};

BeamParameters small_parameters(std::uint32_t count, std::uint32_t list) {
  BeamParameters parameters;
  parameters.k = 1;
  parameters.list = list;
  parameters.max_degree = 4;
  parameters.node_count = count;
  return parameters;
}

TEST(NeighborEstimates, TheLowestOfSeveralWaysCounts) {
  // 3 is met from 0, whose estimate is bad, then from 1, whose estimate is good, then from 2.
  SmallSource source{{{1, 2, 3}, {3}, {3}, {}}, {}};
  const SaidNeighbors scorer{{100, 50, 40, 1}, {{10, 20, 30}, {5}, {7}, {}}};
  BeamScratch scratch;
  const NodeId entry = 0;
  ASSERT_TRUE(beam_search(source, scorer, {&entry, 1}, small_parameters(4, 4), scratch).ok());
  EXPECT_EQ(source.read, (std::vector<NodeId>{0, 1, 3, 2})) << "every record once, 3 before 2";
  EXPECT_EQ(scratch.results[0], (Neighbor{3, 1}));
  EXPECT_EQ(scratch.candidates[0], (Neighbor{3, 5}));
  EXPECT_EQ(scratch.counts.hops, 4u);
  EXPECT_EQ(scratch.counts.estimates, 5u);
  EXPECT_EQ(scratch.counts.distances, 5u);
}

TEST(NeighborEstimates, AnotherWayBringsBackWhatFellOut) {
  // A list of two: 1 and 2 push 3 out, then 1 says that 3 is nearer.
  SmallSource source{{{3, 1, 2}, {3}, {}, {}}, {}};
  const SaidNeighbors scorer{{100, 50, 40, 1}, {{30, 10, 20}, {15}, {}, {}}};
  BeamScratch scratch;
  const NodeId entry = 0;
  ASSERT_TRUE(beam_search(source, scorer, {&entry, 1}, small_parameters(4, 2), scratch).ok());
  EXPECT_EQ(source.read, (std::vector<NodeId>{0, 1, 3}));
  EXPECT_EQ(scratch.results[0], (Neighbor{3, 1}));
}

TEST(NeighborEstimates, AVertexThatDoesNotExistIsDataLoss) {
  SmallSource source{{{1, 9}, {}}, {}};
  const SaidNeighbors scorer{{100, 50}, {{10, 20}, {}}};
  BeamScratch scratch;
  const NodeId entry = 0;
  EXPECT_EQ(beam_search(source, scorer, {&entry, 1}, small_parameters(2, 2), scratch).code(),
            StatusCode::data_loss);
}

}  // namespace
}  // namespace farvec::graph
