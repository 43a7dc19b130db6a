#include "measure/advise/device/cost_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace farvec::measure {
namespace {

AdviceDevice device(double latency_us, double bandwidth_gbps, double requests_per_us) {
  return {{"test", latency_us, bandwidth_gbps, requests_per_us, 64}, {}, 1, {}};
}

/// 100,000 small reads a second, 1 GB/s of large ones.
AdviceDevice disk() {
  return {{"ssd:/disk", 90, 1, 0.1, 512},
          {{512, 10'000, 2'000}, {4096, 12'000, 2'500}, {65536, 65'536, 9'000}},
          64,
          {{1, 0.1}, {16, 0.7}}};
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

TEST(CostModel, KindsOfShortReadsInterruptKindsOfLongOnes) {
  QueryWork work;
  work.kinds[0] = {10, 10 * 6400.0};
  work.kinds[1] = {50, 50 * 1000.0};  // neither
  work.kinds[2] = {100, 100 * 64.0};
  work.compute_ns = 1;
  AdviceDevice interrupted = device(1, 25, 100);
  interrupted.model.interruption_us = 0.15;
  EXPECT_DOUBLE_EQ(predict(work, interrupted, 64).device_qps,
                   1e9 / (10 * 256 + 50 * 1024 / 25.0 + 100 * 10 + 10 * 150));
  interrupted.model.cores = 128;
  EXPECT_DOUBLE_EQ(predict(work, interrupted, 64).device_qps,
                   0.5e9 / (10 * 256 + 50 * 1024 / 25.0 + 100 * 10 + 10 * 150));
}

TEST(CostModel, CoresAddComputationUntilTheDeviceBinds) {
  const auto rdma = device(2.8, 25, 100);
  EXPECT_DOUBLE_EQ(predict(graph_query(), rdma, 4).qps, 160'000);
  const Prediction many = predict(graph_query(), rdma, 1000);
  EXPECT_DOUBLE_EQ(many.qps, many.device_qps);
  EXPECT_NE(many.bound, Bound::computation);
}

TEST(CostModel, CoresHaveTheirPartOfASharedDevice) {
  AdviceDevice shared = device(2.8, 25, 100);
  shared.model.cores = 20;
  const Prediction whole = predict(graph_query(), device(2.8, 25, 100), 1);
  for (const std::uint32_t threads : {1u, 5u, 20u}) {
    const Prediction part = predict(graph_query(), shared, threads);
    EXPECT_DOUBLE_EQ(part.bandwidth_qps, whole.bandwidth_qps * threads / 20);
    EXPECT_DOUBLE_EQ(part.request_rate_qps, whole.request_rate_qps * threads / 20);
    EXPECT_DOUBLE_EQ(part.device_qps, whole.device_qps * threads / 20);
  }
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

TEST(AdviceDevice, AModelsReadTakesTheLongerOfItsTwoTimes) {
  const AdviceDevice rdma = device(2.8, 25, 100);
  EXPECT_DOUBLE_EQ(rdma.occupied_ns(65), 10);             // 128 / 25 is 5.12
  EXPECT_DOUBLE_EQ(rdma.occupied_ns(6400), 6400 / 25.0);  // 10 as a request
  EXPECT_EQ(rdma.kernel_ns(6400), 0);
}

TEST(AdviceDevice, AMeasuredReadLiesBetweenTheSizesThatWereMeasured) {
  // A read that begins anywhere touches 511 bytes more on average.
  const double bytes = 1600 + 511;
  const double share = (bytes - 512) / (4096 - 512);
  EXPECT_DOUBLE_EQ(disk().occupied_ns(1600), 10'000 + share * 2'000);
  EXPECT_DOUBLE_EQ(disk().kernel_ns(1600), 2'000 + share * 500);
  EXPECT_DOUBLE_EQ(disk().occupied_ns(1), 10'000);
  EXPECT_DOUBLE_EQ(disk().occupied_ns(131'072 - 511), 2 * 65'536);
}

TEST(CostModel, AMeasuredDiskServesWhatWasMeasured) {
  const QueryWork work = graph_query();
  const Prediction prediction = predict(work, disk(), 1);
  EXPECT_DOUBLE_EQ(prediction.device_qps, 1e9 / (50 * disk().occupied_ns(256)));
  EXPECT_DOUBLE_EQ(prediction.qps, prediction.device_qps);
  EXPECT_EQ(prediction.bound, Bound::request_rate);
}

TEST(CostModel, SlotsKeepTheDepthOfAMeasuredDisk) {
  AdviceDevice deep = disk();
  deep.model.latency_us = 1;
  for (ReadCost& cost : deep.measured) cost.occupied_ns /= 1000;
  const std::uint32_t without = predict(graph_query(), deep, 1).slots;
  EXPECT_EQ(without, 32u);  // 64 reads, of which each search has 50 / 20 in flight
  deep.depth = 128;
  EXPECT_EQ(predict(graph_query(), deep, 1).slots, 64u);
  deep.depth = 1;
  EXPECT_EQ(predict(graph_query(), deep, 1).slots, kLeastSlots);
}

TEST(AdviceDevice, FewReadsInFlightBringAShareOfTheRate) {
  EXPECT_EQ(disk().rate_share(64), 1);
  EXPECT_EQ(disk().rate_share(1000), 1);
  EXPECT_DOUBLE_EQ(disk().rate_share(16), 0.7);
  EXPECT_DOUBLE_EQ(disk().rate_share(1), 0.1);
  EXPECT_DOUBLE_EQ(disk().rate_share(0.5), 0.05);
  EXPECT_DOUBLE_EQ(disk().rate_share(8.5), 0.1 + 0.6 * 7.5 / 15);
  EXPECT_DOUBLE_EQ(disk().rate_share(40), 0.7 + 0.3 * 24 / 48);
  EXPECT_EQ(device(2.8, 25, 100).rate_share(1), 1);
}

TEST(CostModel, MemoryForFewSearchesLeavesTheDiskIdle) {
  QueryWork work = graph_query();
  work.waits = 50;  // one read at a time
  EXPECT_EQ(predict(work, disk(), 1).slots, 64u);
  const double all = predict(work, disk(), 1).device_qps;
  work.most_slots = 16;
  EXPECT_EQ(predict(work, disk(), 1).slots, 16u);
  EXPECT_DOUBLE_EQ(predict(work, disk(), 1).device_qps, 0.7 * all);
}

TEST(CostModel, ClustersOnADiskTakeWhatReadsInSuchNumbersTook) {
  // 16 clusters of 49,000 bytes in one wait: 49,511 touched.
  QueryWork work;
  work.kinds[0] = {16, 16 * 49'000.0};
  work.waits = 1;
  work.compute_ns = 250'000;
  AdviceDevice device = disk();
  device.together = {{16, {{512, 10'000, 2'000}, {99'022, 70'000, 9'000, 0.8, 1.25}}}};
  const double share = (49'511.0 - 512) / (99'022 - 512);
  const double each_ns = 10'000 + share * 60'000;
  const Prediction prediction = predict(work, device, 1);
  EXPECT_NEAR(prediction.qps, 1e9 / (16 * each_ns), 1e-9);
  EXPECT_NEAR(prediction.qps_least, 1e9 / (16 * (10'000 + share * 77'500)), 1e-9);
  EXPECT_NEAR(prediction.qps_most, 1e9 / (16 * (10'000 + share * 46'000)), 1e-9);
  EXPECT_EQ(prediction.bound, Bound::bandwidth);
  // Where the disk is fast enough whatever it does, nothing varies.
  work.compute_ns = 1e7;
  const Prediction busy = predict(work, device, 1);
  EXPECT_EQ(busy.qps, 100);
  EXPECT_EQ(busy.qps_least, 100);
  EXPECT_EQ(busy.qps_most, 100);
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
}  // namespace farvec::measure
