#include "graph/sampled_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/error.h"
#include "tests/unit/graph/graph_source.h"
#include "tests/unit/graph/test_data.h"

namespace farvec::graph {
namespace {

using testing::Cloud;
using testing::ExactScorer;

ExactScorer scorer_of(const Cloud& cloud, const void* query) {
  return {cloud.view(), query,
          distance::pair_kernel(Metric::l2, ElementType::f32, cloud.dimension)};
}

std::vector<NodeId> found(const SampledGraph& sample, const ExactScorer& scorer, std::size_t most) {
  std::vector<NodeId> out(most);
  BeamScratch scratch;
  out.resize(find_entries(sample.view(), scorer, out, scratch));
  return out;
}

/// The sample's vertices, nearest first.
std::vector<NodeId> ranked(const SampledGraph& sample, const ExactScorer& scorer) {
  std::vector<std::pair<float, NodeId>> all;
  for (const NodeId id : sample.view().ids) {
    float distance = 0;
    scorer.estimate(&id, 1, &distance);
    all.emplace_back(distance, id);
  }
  std::sort(all.begin(), all.end());
  std::vector<NodeId> ids;
  for (const auto& [distance, id] : all) ids.push_back(id);
  return ids;
}

TEST(SampledGraph, NamesVerticesOfTheIndexThatItHas) {
  const Cloud cloud(900, 7, 1);
  const SampledGraph sample(cloud.view(), Metric::l2, {.vertices = 100, .degree = 8});
  const SampledGraphView view = sample.view();
  ASSERT_EQ(view.ids.size(), 100u);
  EXPECT_EQ(view.ids[0], 0u);
  EXPECT_EQ(view.ids[99], 891u);
  const std::set<NodeId> known(view.ids.begin(), view.ids.end());
  EXPECT_TRUE(known.contains(view.graph.entry));
  for (std::size_t v = 0; v < 100; ++v) {
    EXPECT_LE(view.graph.degrees[v], 8u);
    for (std::uint32_t i = 0; i < view.graph.degrees[v]; ++i) {
      EXPECT_TRUE(known.contains(view.graph.row(v)[i]));
    }
  }
}

TEST(SampledGraph, FindsTheNearestOfTheSample) {
  const Cloud cloud(4000, 9, 2);
  const Cloud queries(50, 9, 2);
  const SampledGraph sample(cloud.view(), Metric::l2, {.vertices = 500});
  std::size_t nearest = 0;
  for (std::size_t q = 0; q < 50; ++q) {
    const ExactScorer scorer = scorer_of(cloud, queries.view().row(q));
    const std::vector<NodeId> best = ranked(sample, scorer);
    const std::vector<NodeId> entries = found(sample, scorer, 10);
    ASSERT_EQ(entries.size(), 10u);
    nearest += entries[0] == best[0] ? 1 : 0;
  }
  EXPECT_GE(nearest, 48u);
}

TEST(SampledGraph, CountsItsEstimates) {
  const Cloud cloud(4000, 9, 3);
  const SampledGraph sample(cloud.view(), Metric::l2, {.vertices = 500});
  BeamScratch scratch;
  NodeId entry = kInvalidNode;
  ASSERT_EQ(
      find_entries(sample.view(), scorer_of(cloud, cloud.view().row(5)), {&entry, 1}, scratch), 1u);
  EXPECT_GT(scratch.counts.estimates, 0u);
  EXPECT_LT(scratch.counts.estimates, 500u);
}

TEST(SampledGraph, OfAFewVerticesAllAreFound) {
  const Cloud cloud(3, 5, 4);
  const ExactScorer scorer = scorer_of(cloud, cloud.view().row(1));
  for (const std::uint32_t vertices : {1u, 2u, 3u}) {
    const SampledGraph sample(cloud.view(), Metric::l2, {.vertices = vertices});
    EXPECT_EQ(found(sample, scorer, 10), ranked(sample, scorer));
  }
}

TEST(SampledGraph, DuplicateRowsAreVerticesLikeOthers) {
  Cloud cloud(1, 5, 5);
  for (int i = 0; i < 99; ++i)
    cloud.values.insert(cloud.values.end(), cloud.values.begin(), cloud.values.begin() + 5);
  const SampledGraph sample(cloud.view(), Metric::l2, {.vertices = 40});
  const auto entries = found(sample, scorer_of(cloud, cloud.view().row(0)), 10);
  EXPECT_EQ(std::set<NodeId>(entries.begin(), entries.end()).size(), 10u);
}

TEST(SampledGraph, RefusesASampleThatIsNone) {
  const Cloud cloud(10, 5, 6);
  EXPECT_THROW((void)SampledGraph(cloud.view(), Metric::l2, {.vertices = 11}), Error);
  EXPECT_THROW((void)SampledGraph(cloud.view(), Metric::l2, {.vertices = 0}), Error);
}

}  // namespace
}  // namespace farvec::graph
