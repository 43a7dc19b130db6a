#include "measure/sweep/pass_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace farvec::measure {
namespace {

using ::testing::ElementsAre;

search::BatchOutcome outcome(double seconds, std::vector<float> latency_us) {
  search::BatchOutcome outcome;
  outcome.seconds = seconds;
  outcome.processor_seconds = 0.001;
  outcome.latency_us = std::move(latency_us);
  return outcome;
}

TEST(PassSamples, ARowHasTheMiddleOfThePasses) {
  PassSamples samples;
  samples.recall = 0.5;
  samples.add_pass(outcome(0.5, {1, 2, 3, 10}));
  samples.add_pass(outcome(0.2, {20, 40}));
  samples.add_pass(outcome(4.0, {7, 7, 7, 7}));
  EXPECT_THAT(samples.cells(), ElementsAre("0.5000", "8", "1..10", "7.0", "10.0"));
  nlohmann::ordered_json row;
  samples.add_to(row);
  EXPECT_EQ(row, nlohmann::ordered_json({{"recall", 0.5},
                                         {"qps", 8.0},
                                         {"qps_min", 1.0},
                                         {"qps_max", 10.0},
                                         {"qps_passes", {8.0, 10.0, 1.0}},
                                         {"processor_us", 250.0},
                                         {"mean_us", 7.0},
                                         {"p50_us", 7.0},
                                         {"p99_us", 10.0}}));
}

TEST(PassSamples, APassWithoutASearchIsNone) {
  PassSamples samples;
  samples.add_pass(outcome(1, {}));
  EXPECT_TRUE(samples.qps.empty());
  EXPECT_THAT(samples.cells(), ElementsAre("0.0000", "0", "0..0", "0.0", "0.0"));
}

}  // namespace
}  // namespace farvec::measure
