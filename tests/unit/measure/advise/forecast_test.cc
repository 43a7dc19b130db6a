#include "measure/advise/forecast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace farvec::measure {
namespace {

AdviceDevice rdma() {
  return {{"rdma", 2.8, 25, 100, 64}, {}, 1, {}};
}

/// Every read is of the same size to it, and few come at once.
AdviceDevice slow_disk() {
  return {{"ssd:/disk", 90, 1, 0.1, 512}, {{1 << 20, 10'000, 2'000}}, 64, {}};
}

TrialResult trial(std::uint64_t rows, double parameter, const Counts& counts, double ns) {
  TrialResult result;
  result.rows = rows;
  result.size = {1.9, 70, 132, 400, kMostSlots};
  result.reached = Reached{parameter, counts};
  result.at_target = {counts, {0.9 * ns}, 1, 1};
  result.at_half = {counts, {0.45 * ns}, 1, 1};
  for (double& count : result.at_half.counts) count /= 2;
  result.cache_ns = 0.1 * ns;
  return result;
}

Counts graph_counts(double hops) {
  Counts counts{};
  counts[kHops] = hops / 2;
  counts[kReads] = hops;
  counts[kBytes] = hops * 256;
  counts[kEstimates] = hops * 20;
  counts[kDistances] = hops;
  return counts;
}

SettingTrials graph_trials() {
  Setting setting;
  setting.degree = 32;
  return {setting,
          {trial(6'250, 16, graph_counts(26), 13'000), trial(25'000, 20, graph_counts(30), 15'000),
           trial(100'000, 24, graph_counts(34), 17'000)}};
}

Counts cluster_counts(double probes) {
  Counts counts{};
  counts[kClusters] = counts[kGroupReads] = counts[kListReads] = probes;
  counts[kStrayReads] = 50 * probes;
  counts[kReads] = 52 * probes;
  counts[kBytes] = probes * (400 + 50 * 132 + 40 * 132);
  counts[kDistances] = 90 * probes;
  return counts;
}

SettingTrials cluster_trials() {
  Setting setting{layout::IndexKind::cluster, 0, {100, 8}, layout::ClusterLayoutKind::grouped};
  return {
      setting,
      {trial(25'000, 4, cluster_counts(4), 9'000), trial(100'000, 8, cluster_counts(8), 17'000)}};
}

Forecast of(const SettingTrials& trials, std::uint64_t rows, std::uint32_t threads = 1,
            const AdviceDevice& device = rdma()) {
  const SettingTrials all[] = {trials};
  return forecast(trials, model_of(family_of(trials.setting), all), {rows, 128, device, threads});
}

TEST(Forecast, CountsThatGrowWithTheLogarithmAreCarriedOnSo) {
  const Forecast whole = of(graph_trials(), 1'600'000);
  ASSERT_TRUE(whole.reached);
  EXPECT_NEAR(whole.counts[kReads], 34 + 2 * 4, 1e-6);
  EXPECT_EQ(whole.parameter, 32u);
  EXPECT_NEAR(whole.work.compute_ns, 17'000 * 42.0 / 34, 1);
  EXPECT_NEAR(whole.work.bytes(), 42 * 256, 1e-6);
  EXPECT_NEAR(whole.work.waits, 21, 1e-6);
  EXPECT_EQ(whole.prediction.bound, Bound::computation);
}

TEST(Forecast, CountsThatGrowByAPowerAreCarriedOnSo) {
  const Forecast whole = of(cluster_trials(), 1'600'000);
  EXPECT_EQ(whole.parameter, 32u);
  EXPECT_NEAR(whole.counts[kStrayReads], 50 * 32, 1e-6);
  EXPECT_NEAR(whole.work.bytes(), whole.counts[kBytes], 1e-6);
  EXPECT_NEAR(whole.work.kinds[1].bytes, 400 * 32, 1e-6);
  EXPECT_NEAR(whole.work.kinds[2].bytes, 132.0 * 50 * 32, 1e-6);
  EXPECT_EQ(whole.work.waits, 2);
}

TEST(Forecast, MoreRowsNeverMakeASearchCheaper) {
  for (const SettingTrials& trials : {graph_trials(), cluster_trials()}) {
    double before = of(trials, 100'000).prediction.qps;
    for (std::uint64_t rows = 200'000; rows < 2'000'000'000; rows *= 4) {
      const double qps = of(trials, rows).prediction.qps;
      EXPECT_LE(qps, before * (1 + 1e-9)) << rows;
      before = qps;
    }
  }
}

TEST(Forecast, ManyCoresMeetTheDevicesLimit) {
  const Forecast few = of(cluster_trials(), 1'600'000, 1);
  const Forecast many = of(cluster_trials(), 1'600'000, 256);
  EXPECT_EQ(few.prediction.bound, Bound::computation);
  EXPECT_EQ(many.prediction.bound, Bound::bandwidth);
  EXPECT_DOUBLE_EQ(many.prediction.qps, many.prediction.device_qps);
  EXPECT_LT(many.prediction.qps, 256 * few.prediction.qps);
}

TEST(Forecast, TheKernelsTimeIsAddedForEachReadOfADisk) {
  const Forecast near = of(graph_trials(), 1'600'000);
  const Forecast disks = of(graph_trials(), 1'600'000, 1, slow_disk());
  EXPECT_EQ(near.work.kernel_ns, 0);
  EXPECT_NEAR(disks.work.kernel_ns, 42 * 2'000, 1e-6);
  EXPECT_NEAR(disks.work.compute_ns, near.work.compute_ns + disks.work.kernel_ns, 1e-6);
  EXPECT_NEAR(disks.prediction.qps, 1e9 / (42 * 10'000), 1e-3);
}

TEST(Forecast, WhatArrivesFromADiskIsCopiedToTheSearch) {
  AdviceDevice device = slow_disk();
  device.copy_ns_per_byte = 0.125;
  device.together = {{64, {{1 << 20, 12'000, 3'000}}}};
  // 1,664 reads in two waits: more than 64 go together.
  const Forecast near = of(cluster_trials(), 1'600'000);
  const Forecast disks = of(cluster_trials(), 1'600'000, 1, device);
  EXPECT_NEAR(disks.work.reads_per_wait(), 52 * 32 / 2, 1e-6);
  EXPECT_NEAR(disks.work.kernel_ns, 52 * 32 * 3'000, 1e-3);
  EXPECT_NEAR(disks.work.copy_ns, disks.counts[kBytes] / 8, 1e-6);
  EXPECT_NEAR(disks.work.compute_ns,
              near.work.compute_ns + disks.work.kernel_ns + disks.work.copy_ns, 1e-3);
  EXPECT_NEAR(disks.prediction.device_qps, 1e9 / (52 * 32 * 12'000.0), 1e-6);
  SettingTrials pages = graph_trials();
  pages.setting.graph_layout = layout::LayoutKind::slotted;
  EXPECT_EQ(of(pages, 1'600'000, 1, device).work.copy_ns, 0);
}

TEST(Forecast, PagesWaitForEachReadAndCostByRecordEstimateAndPage) {
  SettingTrials trials = graph_trials();
  trials.setting.graph_layout = layout::LayoutKind::slotted;
  trials.setting.memory_percent = 20;
  const Forecast whole = of(trials, 1'600'000, 1, slow_disk());
  EXPECT_NEAR(whole.work.waits, 42, 1e-6);
  EXPECT_EQ(work_units(SearchFamily::slotted, graph_counts(34)),
            (std::vector<double>{34, 680, 34}));
  trials.trials[1].fits = false;
  trials.trials[1].reached.reset();
  EXPECT_FALSE(of(trials, 1'600'000, 1, slow_disk()).fits);
}

TEST(Forecast, AnInlineGraphKeepsNoMoreInDramOfMoreRows) {
  SettingTrials trials = graph_trials();
  EXPECT_NEAR(of(trials, 1'600'000).compute_dram_per_vector, 70, 1e-9);
  trials.setting.graph_layout = layout::LayoutKind::inlined;
  const Forecast whole = of(trials, 1'600'000);
  EXPECT_NEAR(whole.compute_dram_per_vector, 70.0 / 16, 1e-9);
  EXPECT_NEAR(whole.amplification, 1.9, 1e-9);
  EXPECT_NEAR(whole.work.waits, 21, 1e-6) << "once per hop";
  EXPECT_EQ(work_units(SearchFamily::inlined, graph_counts(34)), (std::vector<double>{34, 680}));
}

TEST(Forecast, GraphsAndInlineGraphsDoNotShareTheirCosts) {
  SettingTrials csr = graph_trials();
  SettingTrials inlined = graph_trials();
  inlined.setting.graph_layout = layout::LayoutKind::inlined;
  for (TrialResult& trial : inlined.trials) {
    for (Timed* timed : {&trial.at_target, &trial.at_half}) {
      for (double& ns : timed->passes_ns) ns /= 2;
    }
  }
  const SettingTrials both[] = {csr, inlined};
  const SettingTrials alone[] = {csr};
  EXPECT_EQ(model_of(SearchFamily::graph, both).costs.ns,
            model_of(SearchFamily::graph, alone).costs.ns);
  EXPECT_LT(model_of(SearchFamily::inlined, both).costs.ns[0],
            model_of(SearchFamily::graph, both).costs.ns[0]);
}

TEST(Timed, TheMedianPassCounts) {
  EXPECT_EQ(Timed{}.ns(), 0);
  EXPECT_EQ((Timed{{}, {9, 1, 4}, 0, 0}).ns(), 4);
}

TEST(Forecast, AnUnreachedRecallIsNoForecast) {
  SettingTrials trials = graph_trials();
  trials.trials[0].reached.reset();
  const Forecast whole = of(trials, 1'000'000);
  EXPECT_FALSE(whole.reached);
  EXPECT_EQ(whole.amplification, 1.9);
}

TEST(Forecast, AddressesOfManyRowsTakeFourBytes) {
  EXPECT_NEAR(of(cluster_trials(), 1'000'000).amplification, 1.9, 1e-9);
  EXPECT_NEAR(of(cluster_trials(), 1'000'000'000).amplification, 1.9 + 400.0 / 3 / 100 / 128, 1e-9);
}

Forecast choice(double qps, double amplification, double dram) {
  Forecast forecast;
  forecast.reached = true;
  forecast.prediction.qps = qps;
  forecast.amplification = amplification;
  forecast.compute_dram_per_vector = dram;
  return forecast;
}

TEST(Choose, TakesTheFastestAndAmongAlikeTheSmallest) {
  const std::vector<Forecast> all{choice(900, 1.1, 5), choice(1000, 2.0, 70), choice(980, 1.5, 70)};
  EXPECT_EQ(choose(all, {}), 2u);
}

TEST(Choose, KeepsTheLimits) {
  const std::vector<Forecast> all{choice(500, 1.1, 5), choice(1000, 2.0, 70), choice(700, 1.2, 70)};
  EXPECT_EQ(choose(all, {}), 1u);
  EXPECT_EQ(choose(all, {1.4, 0}), 2u);
  EXPECT_EQ(choose(all, {0, 10}), 0u);
  EXPECT_EQ(choose(all, {1.0, 0}), std::nullopt);
}

TEST(Choose, TakesNothingThatMissesTheRecall) {
  std::vector<Forecast> all{choice(500, 1.1, 5)};
  all[0].reached = false;
  EXPECT_EQ(choose(all, {}), std::nullopt);
}

}  // namespace
}  // namespace farvec::measure
