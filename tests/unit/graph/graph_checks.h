// What every graph has to be, and what searches of one find.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "distance/distance.h"
#include "graph/beam_search.h"
#include "graph/graph.h"
#include "graph/reachability.h"
#include "tests/unit/graph/graph_source.h"

namespace farvec::graph::testing {

/// Edges lead to other vertices that are there, none twice, at most `degree` from one; all vertices
/// are reachable.
inline void expect_sound(const Graph& graph, std::uint32_t degree) {
  for (std::size_t v = 0; v < graph.count(); ++v) {
    const auto row = graph.neighbors(v);
    EXPECT_LE(row.size(), degree);
    EXPECT_EQ(std::set<NodeId>(row.begin(), row.end()).size(), row.size()) << "vertex " << v;
    for (NodeId id : row) {
      EXPECT_LT(id, graph.count());
      EXPECT_NE(id, v);
    }
  }
  const auto reachable = reachable_vertices(graph);
  EXPECT_EQ(std::count(reachable.begin(), reachable.end(), false), 0);
}

struct Answer {
  Status status;
  std::vector<Neighbor> neighbors;
  BeamCounts counts;
};

inline Answer search(const Graph& graph, VectorView data, Metric metric, const void* query,
                     BeamParameters parameters) {
  GraphSource source{graph, data};
  const ExactScorer scorer{data, query, distance::pair_kernel(metric, data.type, data.dimension)};
  parameters.max_degree = graph.row_capacity();
  parameters.node_count = static_cast<std::uint32_t>(graph.count());
  BeamScratch scratch;
  const NodeId entry = graph.entry;
  Answer answer;
  answer.status = beam_search(source, scorer, {&entry, 1}, parameters, scratch);
  for (std::uint32_t i = 0; i < scratch.results.size(); ++i) {
    answer.neighbors.push_back(scratch.results[i]);
  }
  answer.counts = scratch.counts;
  return answer;
}

/// recall@10 of searches with a list of 50.
inline double recall(const Graph& graph, VectorView data, Metric metric, VectorView queries) {
  const auto kernel = distance::pair_kernel(metric, data.type, data.dimension);
  double hits = 0;
  for (std::size_t q = 0; q < queries.count; ++q) {
    std::vector<float> truth;
    for (std::size_t i = 0; i < data.count; ++i) {
      truth.push_back(kernel(queries.row(q), data.row(i), data.dimension));
    }
    std::nth_element(truth.begin(), truth.begin() + 9, truth.end());
    BeamParameters parameters;
    parameters.list = 50;
    const auto answer = search(graph, data, metric, queries.row(q), parameters);
    for (const Neighbor& n : answer.neighbors) hits += n.distance <= truth[9] ? 1 : 0;
  }
  return hits / 10 / static_cast<double>(queries.count);
}

inline void expect_same(const Graph& a, const Graph& b) {
  ASSERT_EQ(a.count(), b.count());
  EXPECT_EQ(a.entry, b.entry);
  for (std::size_t v = 0; v < a.count(); ++v) {
    ASSERT_TRUE(std::ranges::equal(a.neighbors(v), b.neighbors(v))) << "vertex " << v;
  }
}

}  // namespace farvec::graph::testing
