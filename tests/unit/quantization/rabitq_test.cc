#include "quantization/rabitq.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/data_sets.h"
#include "tests/unit/quantization/error_statistics.h"

namespace farvec::quantization {
namespace {

/// The estimator's promises for 1 to `most_bits` bits.
void check_promises(Experiment experiment, std::uint32_t most_bits) {
  double previous = 1e9;
  for (std::uint32_t bits = 1; bits <= most_bits; ++bits) {
    experiment.bits = bits;
    const ErrorStatistics e = measure(experiment);
    SCOPED_TRACE(testing::Message() << "bits " << bits << ", dimension " << experiment.dimension
                                    << ", deviation " << e.deviation);
    EXPECT_LT(std::fabs(e.mean), 4 * e.standard_error + 1e-5) << "biased";
    EXPECT_GE(e.within, Rabitq::kBoundRate) << "the bound does not hold";
    EXPECT_LE(e.within, 0.98) << "the bound is loose";
    EXPECT_LT(e.deviation, 0.75 * previous) << "a bit more does not help";
    previous = e.deviation;
  }
}

class RabitqStatistics : public testing::TestWithParam<Metric> {};

TEST_P(RabitqStatistics, UnbiasedAndWithinTheBoundOnClusteredRows) {
  for (const std::uint32_t dimension : {64u, 100u}) {
    Experiment experiment;
    experiment.rows = sample_rows(300, dimension, 1);
    experiment.queries = sample_rows(12, dimension, 2);
    experiment.dimension = dimension;
    experiment.metric = GetParam();
    if (GetParam() == Metric::cosine) {
      normalize_rows(experiment.rows, dimension);
      normalize_rows(experiment.queries, dimension);
    }
    check_promises(experiment, 8);
  }
}

TEST_P(RabitqStatistics, UnbiasedAndWithinTheBoundInManyDimensions) {
  Experiment experiment;
  experiment.rows = sample_rows(30, kMaxDimension, 1);
  experiment.queries = sample_rows(12, kMaxDimension, 2);
  experiment.dimension = kMaxDimension;
  experiment.metric = GetParam();
  if (GetParam() == Metric::cosine) {
    normalize_rows(experiment.rows, kMaxDimension);
    normalize_rows(experiment.queries, kMaxDimension);
  }
  check_promises(experiment, 4);
}

/// The first `count` rows of an .fbin file.
std::vector<float> first_rows(const std::filesystem::path& path, std::size_t count) {
  std::ifstream file(path, std::ios::binary);
  std::uint32_t shape[2] = {0, 0};
  file.read(reinterpret_cast<char*>(shape), sizeof(shape));
  std::vector<float> rows(count * shape[1]);
  file.read(reinterpret_cast<char*>(rows.data()),
            static_cast<std::streamsize>(rows.size() * sizeof(float)));
  return rows;
}

TEST_P(RabitqStatistics, UnbiasedAndWithinTheBoundOnRealRows) {
  const auto folder = tests::data_set("deep20k");
  if (const auto why = tests::no_data(folder); !why.empty()) GTEST_SKIP() << why;
  Experiment experiment;
  experiment.rows = first_rows(folder / "base.fbin", 1000);
  experiment.queries = first_rows(folder / "query.fbin", 12);
  experiment.dimension = 96;
  experiment.metric = GetParam();
  check_promises(experiment, 4);
}

INSTANTIATE_TEST_SUITE_P(Metrics, RabitqStatistics,
                         testing::Values(Metric::l2, Metric::inner_product, Metric::cosine),
                         [](const auto& metric) { return std::string(to_string(metric.param)); });

}  // namespace
}  // namespace farvec::quantization
