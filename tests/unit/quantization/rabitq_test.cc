#include "quantization/rabitq.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "base/error.h"
#include "tests/unit/quantization/sample_data.h"

namespace farvec::quantization {
namespace {

constexpr std::size_t kRows = 300, kQueries = 12;

struct ErrorStatistics {
  double mean = 0;       ///< of (estimate - exact) / scale
  double deviation = 0;  ///< root mean square of the same
  double within = 0;     ///< share of estimates inside their bound
  double standard_error = 0;
};

std::vector<NodeId> all_ids(std::size_t count) {
  std::vector<NodeId> ids(count);
  std::iota(ids.begin(), ids.end(), NodeId{0});
  return ids;
}

struct Setup {
  Metric metric;
  std::uint32_t bits;
  std::uint32_t dimension;
  int seeds = 10;
};

/// Errors over many rotations, rows and queries, in units of the mean exact distance's size.
ErrorStatistics measure(const Setup& s) {
  auto rows = sample_rows(kRows, s.dimension, 1), queries = sample_rows(kQueries, s.dimension, 2);
  if (s.metric == Metric::cosine) {
    normalize_rows(rows, s.dimension);
    normalize_rows(queries, s.dimension);
  }
  const VectorView data = packed_view(rows.data(), kRows, s.dimension, ElementType::f32);
  const auto ids = all_ids(kRows);
  std::vector<float> estimates(kRows), bounds(kRows);
  RabitqQuery query;
  double sum = 0, square = 0, scale = 0, inside = 0, count = 0, between = 0;
  for (int seed = 0; seed < s.seeds; ++seed) {
    const Rabitq rabitq(Rabitq::train(data, s.metric, s.bits, 100 + seed, 1));
    std::vector<std::byte> records(kRows * rabitq.record_bytes());
    rabitq.encode(data, records.data(), 1);
    double seed_sum = 0;
    for (std::size_t q = 0; q < kQueries; ++q) {
      const float* row = queries.data() + q * s.dimension;
      rabitq.prepare(row, query);
      rabitq.estimate_with_error(query, records.data(), ids.data(), kRows, estimates.data(),
                                 bounds.data());
      for (std::size_t i = 0; i < kRows; ++i) {
        const double exact =
            exact_distance(s.metric, rows.data() + i * s.dimension, row, s.dimension);
        const double error = estimates[i] - exact;
        seed_sum += error;
        square += error * error;
        scale += std::fabs(exact);
        inside += std::fabs(error) <= bounds[i] + 1e-5 * std::fabs(exact);
        ++count;
      }
    }
    sum += seed_sum;
    between += std::pow(seed_sum / (kRows * kQueries), 2);
  }
  scale /= count;
  return {sum / count / scale, std::sqrt(square / count) / scale, inside / count,
          std::sqrt(between) / s.seeds / scale};
}

class RabitqStatistics : public testing::TestWithParam<Metric> {};

TEST_P(RabitqStatistics, IsUnbiasedWithinItsBoundAndImprovesWithBits) {
  for (const std::uint32_t dimension : {64u, 100u}) {
    double previous = 1e9;
    for (std::uint32_t bits = 1; bits <= 8; ++bits) {
      const ErrorStatistics e = measure({GetParam(), bits, dimension});
      SCOPED_TRACE(testing::Message() << "bits " << bits << ", dimension " << dimension
                                      << ", deviation " << e.deviation << ", within " << e.within);
      EXPECT_LT(std::fabs(e.mean), 4 * e.standard_error + 1e-5);
      EXPECT_GE(e.within, Rabitq::kBoundRate - 0.01);
      EXPECT_LT(e.deviation, 0.75 * previous);
      previous = e.deviation;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Metrics, RabitqStatistics,
                         testing::Values(Metric::l2, Metric::inner_product, Metric::cosine));

}  // namespace
}  // namespace farvec::quantization
