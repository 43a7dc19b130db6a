#include "cli/advice/cost_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace farvec::cli {
namespace {

transport::DeviceModel device(double latency_us, double bandwidth_gbps, double requests_per_us) {
  return {"test", latency_us, bandwidth_gbps, requests_per_us, 64};
}

/// 50 reads of 256 bytes in 20 waits, 25 us of computation.
QueryWork graph_query() {
  QueryWork work;
  work.kinds[0] = {50, 50 * 256.0};
  work.waits = 20;
  work.compute_ns = 25'000;
  return work;
}

TEST(CostModel, ComputationBindsWhenTheDeviceIsFast) {
  const Prediction prediction = predict(graph_query(), device(2.8, 25, 100), 1);
  EXPECT_EQ(prediction.bound, Bound::computation);
  EXPECT_DOUBLE_EQ(prediction.qps, 40'000);
  EXPECT_DOUBLE_EQ(prediction.bandwidth_qps, 25e9 / (50 * 256));
  EXPECT_DOUBLE_EQ(prediction.request_rate_qps, 100e6 / 50);
}

TEST(CostModel, BandwidthBindsWhenTheLinkIsNarrow) {
  const Prediction prediction = predict(graph_query(), device(2.8, 0.1, 100), 1);
  EXPECT_EQ(prediction.bound, Bound::bandwidth);
  EXPECT_DOUBLE_EQ(prediction.qps, 0.1e9 / (50 * 256));
}

TEST(CostModel, RequestRateBindsWhenReadsAreSmallAndSlow) {
  const Prediction prediction = predict(graph_query(), device(2.8, 25, 1), 1);
  EXPECT_EQ(prediction.bound, Bound::request_rate);
  EXPECT_DOUBLE_EQ(prediction.qps, 1e6 / 50);
}

TEST(CostModel, LatencyBindsWhenTheMostSlotsDoNotHideIt) {
  const Prediction prediction = predict(graph_query(), device(1e6, 25, 100), 1);
  EXPECT_EQ(prediction.bound, Bound::latency);
  EXPECT_EQ(prediction.slots, kMostSlots);
  EXPECT_LT(prediction.qps, 256 / 20.0);
}

TEST(CostModel, ReadsAreRoundedUpToBlocks) {
  QueryWork work = graph_query();
  work.kinds[0].bytes = 50 * 257.0;
  EXPECT_DOUBLE_EQ(predict(work, device(2.8, 25, 100), 1).bandwidth_qps, 25e9 / (50 * 320));
}

TEST(CostModel, EachKindOfReadTakesTheLongerOfItsTwoTimes) {
  QueryWork work;
  work.kinds[0] = {10, 10 * 6400.0};  // 256 ns each on the link
  work.kinds[2] = {100, 100 * 64.0};  // 2.56 ns each, and 10 ns as requests
  work.compute_ns = 1;
  const Prediction prediction = predict(work, device(1, 25, 100), 64);
  EXPECT_DOUBLE_EQ(prediction.device_qps, 1e9 / (10 * 256 + 100 * 10));
  EXPECT_LT(prediction.device_qps, prediction.bandwidth_qps);
  EXPECT_LT(prediction.device_qps, prediction.request_rate_qps);
}

TEST(CostModel, CoresAddComputationUntilTheDeviceBinds) {
  const auto rdma = device(2.8, 25, 100);
  EXPECT_DOUBLE_EQ(predict(graph_query(), rdma, 4).qps, 160'000);
  const Prediction many = predict(graph_query(), rdma, 1000);
  EXPECT_DOUBLE_EQ(many.qps, many.device_qps);
  EXPECT_NE(many.bound, Bound::computation);
}

TEST(CostModel, SlotsGrowWithTheLatencyAndArePowersOfTwo) {
  std::uint32_t before = 0;
  for (const double latency_us : {0.1, 1.0, 3.0, 10.0, 100.0, 1e4}) {
    const std::uint32_t slots = predict(graph_query(), device(latency_us, 25, 100), 1).slots;
    EXPECT_GE(slots, std::max(before, kLeastSlots)) << latency_us;
    EXPECT_LE(slots, kMostSlots);
    EXPECT_EQ(slots & (slots - 1), 0u);
    before = slots;
  }
}

TEST(CostModel, ABetterDeviceAndLessWorkNeverCostThroughput) {
  for (const double scale : {0.01, 0.1, 1.0, 10.0}) {
    const double qps = predict(graph_query(), device(2.8, 0.5 * scale, 5 * scale), 1).qps;
    EXPECT_GE(predict(graph_query(), device(2.8, scale, 5 * scale), 1).qps, qps);
    EXPECT_GE(predict(graph_query(), device(2.8, 0.5 * scale, 10 * scale), 1).qps, qps);
    QueryWork less = graph_query();
    less.compute_ns /= 2;
    EXPECT_GE(predict(less, device(2.8, 0.5 * scale, 5 * scale), 1).qps, qps);
    less.kinds[0] = {25, 25 * 256.0};
    EXPECT_GE(predict(less, device(2.8, 0.5 * scale, 5 * scale), 1).qps, qps);
  }
}

TEST(CostModel, NothingToReadIsBoundByComputation) {
  QueryWork work;
  work.compute_ns = 1000;
  const Prediction prediction = predict(work, device(2.8, 25, 100), 1);
  EXPECT_EQ(prediction.bound, Bound::computation);
  EXPECT_DOUBLE_EQ(prediction.qps, 1e6);
  EXPECT_EQ(prediction.device_qps, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace farvec::cli
