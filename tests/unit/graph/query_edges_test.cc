#include "graph/query_edges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "distance/distance.h"
#include "graph/vamana_builder.h"
#include "tests/unit/graph/graph_checks.h"
#include "tests/unit/graph/test_data.h"

namespace farvec::graph {
namespace {

using testing::expect_same;
using testing::expect_sound;

constexpr std::uint32_t kDimension = 24;
constexpr std::size_t kRows = 3000;

/// Rows of length 1 in all directions, and queries near the middle, in few: what is nearest to one
/// of them lies far apart.
struct Apart {
  Apart(std::size_t samples, std::size_t queries) : sampled(samples) {
    Random random(5);
    std::vector<float> axes(4 * kDimension);
    for (float& x : axes) x = static_cast<float>(random.normal());
    for (std::size_t i = 0; i < kRows; ++i) add_row(random);
    for (std::size_t i = 0; i < samples + queries; ++i) add_query(random, axes);
  }

  VectorView rows() const { return view(row_values); }
  VectorView sample() const { return view(query_values).part(0, sampled); }
  VectorView queries() const {
    const VectorView all = view(query_values);
    return all.part(sampled, all.count - sampled);
  }

  std::size_t sampled;
  std::vector<float> row_values, query_values;

 private:
  static VectorView view(const std::vector<float>& values) {
    return packed_view(values.data(), values.size() / kDimension, kDimension, ElementType::f32);
  }
  void add_row(Random& random) {
    std::vector<float> row(kDimension);
    for (float& x : row) x = static_cast<float>(random.normal());
    distance::to_stored(row.data(), ElementType::f32, Metric::cosine, kDimension, row.data());
    row_values.insert(row_values.end(), row.begin(), row.end());
  }
  void add_query(Random& random, const std::vector<float>& axes) {
    std::vector<float> query(kDimension);
    for (std::size_t a = 0; a < 4; ++a) {
      const auto share = static_cast<float>(0.02 * random.normal());
      for (std::uint32_t d = 0; d < kDimension; ++d) query[d] += share * axes[a * kDimension + d];
    }
    query_values.insert(query_values.end(), query.begin(), query.end());
  }
};

VamanaOptions with_sample(VectorView sample, unsigned threads = 2) {
  VamanaOptions options = testing::quiet_options();
  options.sample_queries = sample;
  options.threads = threads;
  return options;
}

/// recall@10 of the shortest list that there is.
double short_recall(const Graph& graph, const Apart& set, Metric metric) {
  const VectorView rows = set.rows();
  const auto kernel = distance::pair_kernel(metric, rows.type, rows.dimension);
  double hits = 0;
  for (std::size_t q = 0; q < set.queries().count; ++q) {
    const std::byte* query = set.queries().row(q);
    std::vector<float> truth;
    for (std::size_t i = 0; i < rows.count; ++i) {
      truth.push_back(kernel(query, rows.row(i), rows.dimension));
    }
    std::nth_element(truth.begin(), truth.begin() + 9, truth.end());
    BeamParameters parameters;
    parameters.list = 10;
    const auto answer = testing::search(graph, rows, metric, query, parameters);
    for (const Neighbor& n : answer.neighbors) hits += n.distance <= truth[9] ? 1 : 0;
  }
  return hits / 10 / static_cast<double>(set.queries().count);
}

TEST(QueryEdges, LeadFromOneAnswerToTheNext) {
  const Apart set(1000, 200);
  for (const Metric metric : {Metric::l2, Metric::inner_product, Metric::cosine}) {
    const Graph without = build_vamana(set.rows(), metric, with_sample({}));
    VamanaStats stats;
    const Graph with = build_vamana(set.rows(), metric, with_sample(set.sample()), &stats);
    expect_sound(with, with_sample({}).degree);
    EXPECT_GT(stats.query_edges, 0u);
    EXPECT_GT(short_recall(with, set, metric), short_recall(without, set, metric) + 0.2);
  }
}

TEST(QueryEdges, CostQueriesLikeRowsLittle) {
  const Apart set(1000, 0);
  const VectorView like_rows = set.rows().part(0, 200);
  const Graph without = build_vamana(set.rows(), Metric::l2, with_sample({}));
  const Graph with = build_vamana(set.rows(), Metric::l2, with_sample(set.sample()));
  EXPECT_GE(testing::recall(with, set.rows(), Metric::l2, like_rows),
            testing::recall(without, set.rows(), Metric::l2, like_rows) - 0.03);
}

TEST(QueryEdges, AreTheSameForAnyNumberOfThreads) {
  const Apart set(2100, 0);
  const Graph one = build_vamana(set.rows(), Metric::l2, with_sample(set.sample(), 1));
  expect_same(one, build_vamana(set.rows(), Metric::l2, with_sample(set.sample(), 3)));
}

TEST(QueryEdges, TakeAtMostHalfOfAList) {
  const Apart set(2000, 0);
  for (const std::uint32_t degree : {1u, 2u, 5u}) {
    VamanaOptions options = with_sample(set.sample());
    options.degree = degree;
    const BuildSpace space(set.rows(), Metric::l2, 1);
    Graph graph(kRows, degree);
    for (NodeId v = 0; v < kRows; ++v) {
      for (NodeId next = 1; next <= degree; ++next) graph.append_neighbor(v, (v + next) % kRows);
    }
    graph.entry = 0;
    const Graph before = copy_of(graph);
    (void)add_query_edges(graph, space, Metric::l2, options);
    for (NodeId v = 0; v < kRows; ++v) {
      const auto now = graph.neighbors(v);
      const auto kept = std::count_if(now.begin(), now.end(), [&](NodeId id) {
        return std::ranges::find(before.neighbors(v), id) != before.neighbors(v).end();
      });
      EXPECT_EQ(now.size(), degree);
      EXPECT_GE(kept, (degree + 1) / 2);
    }
  }
}

TEST(QueryEdges, OfOneQueryAndOfEqualOnes) {
  Apart set(1, 0);
  VamanaStats once, often;
  const Graph one = build_vamana(set.rows(), Metric::l2, with_sample(set.sample()), &once);
  for (int i = 0; i < 6; ++i) {
    const std::vector<float> former = set.query_values;
    set.query_values.insert(set.query_values.end(), former.begin(), former.end());
  }
  set.sampled = 64;
  expect_same(one, build_vamana(set.rows(), Metric::l2, with_sample(set.sample()), &often));
  EXPECT_EQ(once.query_edges, often.query_edges);
}

TEST(QueryEdges, OfFewRows) {
  const Apart set(50, 0);
  for (const std::size_t rows : {1u, 2u, 5u}) {
    expect_sound(build_vamana(set.rows().part(0, rows), Metric::l2, with_sample(set.sample())), 16);
  }
}

TEST(QueryEdges, EndWhenTheyAreInterrupted) {
  const Apart set(2000, 0);
  const BuildSpace space(set.rows(), Metric::l2, 1);
  Graph graph = build_vamana(set.rows(), Metric::l2, with_sample({}));
  VamanaOptions options = with_sample(set.sample());
  options.interrupted = [] { return true; };
  EXPECT_THROW((void)add_query_edges(graph, space, Metric::l2, options), WorkInterrupted);
}

}  // namespace
}  // namespace farvec::graph
