#include "quantization/neighbor_codes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "distance/distance.h"
#include "quantization/neighbor_encoder.h"
#include "tests/unit/quantization/sample_data.h"

namespace farvec::quantization {
namespace {

/// Rows, of which each points to the `degree` that follow it.
struct RingGraph {
  RingGraph(std::vector<float> values, std::uint32_t dimension_, std::uint32_t degree)
      : rows(std::move(values)), dimension(dimension_) {
    const std::size_t count = rows.size() / dimension;
    degrees.assign(count, degree);
    for (std::size_t v = 0; v < count; ++v) {
      for (std::uint32_t i = 1; i <= degree; ++i) {
        ids.push_back(static_cast<NodeId>((v + i) % count));
      }
    }
  }

  EdgeSet edges() const {
    const std::size_t count = degrees.size();
    return {packed_view(rows.data(), count, dimension, ElementType::f32),
            {ids.data(), degrees.data(), count, degrees.front(), 0}};
  }
  const float* row(NodeId v) const { return rows.data() + std::size_t{v} * dimension; }

  std::vector<float> rows;
  std::uint32_t dimension;
  std::vector<std::uint32_t> degrees;
  std::vector<NodeId> ids;
};

std::vector<std::byte> codes_of(const NeighborEncoder& encoder, const RingGraph& graph, NodeId v) {
  std::vector<std::byte> codes(encoder.codes().bytes(graph.degrees[v]));
  encoder.encode(v, codes.data());
  return codes;
}

/// Estimates of all neighbours of v.
std::vector<float> estimates_of(const NeighborEncoder& encoder, const RingGraph& graph, NodeId v,
                                const float* query) {
  const std::vector<std::byte> codes = codes_of(encoder, graph, v);
  const Metric metric = encoder.codes().parameters().metric;
  NeighborQuery prepared;
  encoder.codes().prepare(query, prepared);
  const auto distance =
      static_cast<float>(exact_distance(metric, graph.row(v), query, graph.dimension));
  std::vector<float> all;
  for (std::uint32_t begin = 0; begin < graph.degrees[v]; begin += kScanBlock) {
    float out[kScanBlock];
    (void)encoder.codes().estimate(
        prepared, {codes.data(), begin / kScanBlock, distance, std::numeric_limits<float>::max()},
        out);
    all.insert(all.end(), out, out + std::min(kScanBlock, graph.degrees[v] - begin));
  }
  return all;
}

struct ErrorSummary {
  double mean = 0, deviation = 0;  ///< in units of the mean size of the exact distances
};

ErrorSummary errors(const RingGraph& graph, const std::vector<float>& queries, Metric metric,
                    std::uint32_t bits) {
  double sum = 0, squares = 0, size = 0, count = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    const NeighborEncoder encoder(graph.edges(), {metric, bits, seed, 1});
    for (NodeId v = 0; v < graph.degrees.size(); v += 29) {
      for (std::size_t q = 0; q < queries.size(); q += graph.dimension) {
        const std::vector<float> found = estimates_of(encoder, graph, v, queries.data() + q);
        for (std::uint32_t i = 0; i < found.size(); ++i) {
          const NodeId id = graph.ids[v * graph.degrees[v] + i];
          const double exact =
              exact_distance(metric, graph.row(id), queries.data() + q, graph.dimension);
          sum += found[i] - exact;
          squares += (found[i] - exact) * (found[i] - exact);
          size += std::fabs(exact);
          ++count;
        }
      }
    }
  }
  return {sum / size, std::sqrt(squares / count) * count / size};
}

class NeighborCodesTest : public testing::TestWithParam<Metric> {};

TEST_P(NeighborCodesTest, UnbiasedAndBetterWithEveryBit) {
  for (const std::uint32_t dimension : {63u}) {
    std::vector<float> rows = sample_rows(60, dimension, 1);
    std::vector<float> queries = sample_rows(6, dimension, 2);
    if (GetParam() == Metric::cosine) {
      normalize_rows(rows, dimension);
      normalize_rows(queries, dimension);
    }
    const RingGraph graph(std::move(rows), dimension, 33);
    double previous = 1e9;
    for (std::uint32_t bits = 1; bits <= NeighborCodes::kMostBits; ++bits) {
      const ErrorSummary e = errors(graph, queries, GetParam(), bits);
      SCOPED_TRACE(testing::Message() << "bits " << bits << ", dimension " << dimension
                                      << ", deviation " << e.deviation);
      EXPECT_LT(std::fabs(e.mean), 0.05 * e.deviation + 1e-4) << "biased";
      EXPECT_LT(e.deviation, 0.8 * previous) << "a bit more does not help";
      previous = e.deviation;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Metrics, NeighborCodesTest,
                         testing::Values(Metric::l2, Metric::inner_product, Metric::cosine),
                         [](const auto& metric) { return std::string(to_string(metric.param)); });

TEST(NeighborCodes, ErrorShrinksWithTheEdge) {
  const std::uint32_t dimension = 64;
  const std::vector<float> base = sample_rows(40, dimension, 3);
  const std::vector<float> queries = sample_rows(6, dimension, 4);
  double deviations[2];
  for (int near = 0; near < 2; ++near) {
    std::vector<float> rows = base;
    for (std::size_t i = dimension; i < rows.size(); ++i) {
      if (near == 1) rows[i] = rows[i % dimension] + (rows[i] - rows[i % dimension]) / 10;
    }
    deviations[near] = errors(RingGraph(rows, dimension, 8), queries, Metric::l2, 1).deviation;
  }
  EXPECT_LT(deviations[1], 0.3 * deviations[0]);
}

TEST(NeighborCodes, ADuplicateIsAsFarAsItsVertex) {
  std::vector<float> rows = sample_rows(1, 20, 5);
  for (int copies = 0; copies < 3; ++copies)
    rows.insert(rows.end(), rows.begin(), rows.begin() + 20);
  const RingGraph graph(rows, 20, 3);
  const NeighborEncoder encoder(graph.edges(), {Metric::l2, 1, 1, 1});
  const std::vector<float> query = sample_rows(1, 20, 6);
  const double exact = exact_distance(Metric::l2, graph.row(0), query.data(), 20);
  for (const float estimate : estimates_of(encoder, graph, 0, query.data())) {
    EXPECT_NEAR(estimate, exact, 1e-5 * exact);
  }
}

TEST(NeighborCodes, NeighboursLieInBlocksWhateverTheThreads) {
  for (const std::uint32_t degree : {1u, 31u, 32u, 33u, 65u}) {
    const RingGraph graph(sample_rows(80, 17, 7), 17, degree);
    const NeighborEncoder one(graph.edges(), {Metric::l2, 2, 9, 1});
    const NeighborEncoder three(graph.edges(), {Metric::l2, 2, 9, 3});
    EXPECT_EQ(one.codes().bytes(degree), (degree + 31) / 32 * ScanShape(17, 2).block_bytes());
    for (NodeId v = 0; v < 80; v += 11) {
      EXPECT_EQ(codes_of(one, graph, v), codes_of(three, graph, v));
    }
  }
}

TEST(NeighborCodes, HalfFloatsHaveTheCodesOfTheSameFloats) {
  constexpr std::uint32_t kLength = 17;
  constexpr std::size_t kRows = 80;
  std::vector<float> values = sample_rows(kRows, kLength, 11);
  std::vector<std::byte> halves(values.size() * 2);
  const auto count = static_cast<std::uint32_t>(values.size());
  distance::narrow(values.data(), ElementType::f16, count, halves.data());
  distance::widen(halves.data(), ElementType::f16, count, values.data());
  const RingGraph graph(values, kLength, 33);
  EdgeSet of_halves = graph.edges();
  of_halves.rows = packed_view(halves.data(), kRows, kLength, ElementType::f16);
  for (const Metric metric : {Metric::l2, Metric::cosine, Metric::inner_product}) {
    const NeighborEncoder floats(graph.edges(), {metric, 2, 9, 1});
    const NeighborEncoder rotated_again(of_halves, {metric, 2, 9, 2});
    for (NodeId v = 0; v < kRows; v += 7) {
      EXPECT_EQ(codes_of(floats, graph, v), codes_of(rotated_again, graph, v));
    }
  }
}

TEST(NeighborCodes, AQueryThatIsNoNumberFindsNothing) {
  const RingGraph graph(sample_rows(10, 12, 8), 12, 4);
  const NeighborEncoder encoder(graph.edges(), {Metric::l2, 1, 1, 1});
  std::vector<float> query(12, std::numeric_limits<float>::quiet_NaN());
  NeighborQuery prepared;
  encoder.codes().prepare(query.data(), prepared);
  const std::vector<std::byte> codes = codes_of(encoder, graph, 0);
  float out[kScanBlock];
  EXPECT_EQ(encoder.codes().estimate(
                prepared, {codes.data(), 0, std::numeric_limits<float>::quiet_NaN(), 1e30f}, out),
            0u);
}

TEST(NeighborCodes, RefusesWhatItCannotEncode) {
  const RingGraph graph(sample_rows(10, 12, 8), 12, 4);
  EXPECT_THROW(NeighborEncoder(graph.edges(), {Metric::l2, 5, 1, 1}), Error);
  EXPECT_THROW(NeighborEncoder(graph.edges(), {Metric::l2, 0, 1, 1}), Error);
  EdgeSet none = graph.edges();
  none.rows.count = none.graph.count = 0;
  EXPECT_THROW(NeighborEncoder(none, {Metric::l2, 1, 1, 1}), Error);
}

TEST(NeighborCodes, AGraphWithoutEdgesHasNoCodes) {
  RingGraph graph(sample_rows(3, 12, 8), 12, 1);
  graph.degrees.assign(3, 0);
  const NeighborEncoder encoder(graph.edges(), {Metric::l2, 1, 1, 1});
  EXPECT_EQ(encoder.codes().bytes(0), 0u);
}

}  // namespace
}  // namespace farvec::quantization
