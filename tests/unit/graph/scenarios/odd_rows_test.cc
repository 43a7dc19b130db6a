// Graphs of sets with rows that are near to all others, and of rows whose lengths differ.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "base/row_set.h"
#include "distance/distance.h"
#include "graph/hnsw/hnsw_builder.h"
#include "graph/sparse_vertices.h"
#include "graph/vamana_builder.h"
#include "graph/vamana_merge.h"
#include "tests/unit/graph/graph_checks.h"
#include "tests/unit/graph/test_data.h"

namespace farvec::graph {
namespace {

using testing::expect_sound;
using testing::recall;

constexpr std::size_t kRows = 2000;
constexpr std::size_t kQueries = 200;
constexpr std::uint32_t kDimension = 40;

/// Rows in no direction more than in another, then queries like them.
class Ball {
 public:
  explicit Ball(double spread = 0) {
    Random random(7);
    for (std::size_t row = 0; row < kRows + kQueries; ++row) {
      const double length = row < kRows ? std::exp(spread * random.normal()) : 1;
      for (std::uint32_t d = 0; d < kDimension; ++d) {
        values_.push_back(static_cast<float>(length * random.normal()));
      }
    }
  }

  /// Makes every `one_in`-th row `scale` times as long.
  void shrink(std::size_t one_in, float scale) {
    for (std::size_t row = one_in / 2; row < kRows; row += one_in) {
      for (std::uint32_t d = 0; d < kDimension; ++d) values_[row * kDimension + d] *= scale;
    }
  }

  /// All rows and queries to length 1, but those of length 0.
  void normalise() {
    std::vector<float> stored(values_.size());
    for (std::size_t at = 0; at < values_.size(); at += kDimension) {
      distance::to_stored(&values_[at], ElementType::f32, Metric::cosine, kDimension, &stored[at]);
    }
    values_ = stored;
  }

  VectorView rows() const { return view().part(0, kRows); }
  VectorView queries() const { return view().part(kRows, kQueries); }

 private:
  VectorView view() const {
    return packed_view(values_.data(), kRows + kQueries, kDimension, ElementType::f32);
  }

  std::vector<float> values_;
};

VamanaOptions usual_options() {
  VamanaOptions options;
  options.quiet = true;
  options.threads = 2;
  return options;
}

double recall_of(const Ball& ball, const Graph& graph, Metric metric) {
  expect_sound(graph, usual_options().degree);
  return recall(graph, ball.rows(), metric, ball.queries());
}

double built_recall(const Ball& ball, Metric metric) {
  const Graph graph = build_vamana(ball.rows(), metric, usual_options());
  // Equal rows have each other for neighbours, and no others.
  const std::uint64_t sparse = sparse_vertices(graph, usual_options().degree);
  EXPECT_TRUE(sparse == 0 || metric == Metric::cosine) << sparse << " vertices";
  return recall_of(ball, graph, metric);
}

TEST(OddRows, OneNearAllOthersCostsNoRecall) {
  const Ball usual;
  const double without = built_recall(usual, Metric::l2);
  for (const float scale : {0.0f, 0.1f}) {
    Ball odd;
    odd.shrink(kRows, scale);
    EXPECT_GE(built_recall(odd, Metric::l2), without - 0.005) << "scale " << scale;
  }
}

TEST(OddRows, SeveralNearAllOthersCostNoRecall) {
  const Ball usual;
  const double without = built_recall(usual, Metric::l2);
  for (const std::size_t one_in : {500u, 100u}) {
    Ball odd;
    odd.shrink(one_in, 0.1f);
    EXPECT_GE(built_recall(odd, Metric::l2), without - 0.005) << "one in " << one_in;
  }
}

TEST(OddRows, ZeroRowsCostNoRecallOfCosine) {
  Ball usual;
  usual.normalise();
  const double without = built_recall(usual, Metric::cosine);
  for (const std::size_t one_in : {kRows, std::size_t{100}, std::size_t{20}}) {
    Ball odd;
    odd.shrink(one_in, 0.0f);
    odd.normalise();
    EXPECT_GE(built_recall(odd, Metric::cosine), without - 0.005) << "one in " << one_in;
  }
}

TEST(OddRows, AMergeKeepsTheRecallBesideARowNearAllOthers) {
  Ball usual;
  Ball odd;
  odd.shrink(kRows, 0.0f);
  std::vector<double> recalls;
  for (const Ball* ball : {&usual, &odd}) {
    const std::size_t first = kRows / 2 + 1;  // with the row that is near all others
    Graph former = build_vamana(ball->rows().part(0, first), Metric::l2, usual_options());
    const Graph merged =
        merge_vamana({std::move(former), RowSet(), ball->rows()}, Metric::l2, usual_options());
    recalls.push_back(recall_of(*ball, merged, Metric::l2));
  }
  EXPECT_GE(recalls[1], recalls[0] - 0.005);
}

TEST(OddRows, ProductsOfUnequalLengthsAreFoundAsByAnHnsw) {
  for (const double spread : {0.0, 0.1, 0.3, 1.0}) {
    const Ball ball(spread);
    HnswOptions options;
    options.levels.m = 16;
    options.quiet = true;
    HnswGraph hnsw = build_hnsw(ball.rows(), Metric::inner_product, {}, options);
    const double expected = recall(hnsw.base(), ball.rows(), Metric::inner_product, ball.queries());
    EXPECT_GE(built_recall(ball, Metric::inner_product), expected - 0.01) << "spread " << spread;
  }
}

}  // namespace
}  // namespace farvec::graph
