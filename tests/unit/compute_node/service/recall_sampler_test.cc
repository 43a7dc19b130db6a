// Searches that a node repeats exactly, and the recall that it reports.
#include "compute_node/service/recall_sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>

#include "tests/unit/compute_node/service/query_service_fixture.h"

namespace farvec::compute_node {
namespace {

struct RecallSamplerTest : QueryServiceTest {
  RecallSamplerTest() { sampling = {.share = 1, .rows_per_second = 1'000'000'000}; }

  /// Searches until `count` of the searches have been repeated.
  void search_until_repeated(std::uint64_t count) {
    for (int i = 0; i < 10'000 && recall->snapshot().samples() < count; ++i) {
      ASSERT_TRUE(search(request()).ok());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_GE(recall->snapshot().samples(), count);
  }

  bool has_gauge(double value) {
    const auto families =
        ServiceMetrics(statistics, *supervisor, nullptr, nullptr, recall.get()).Collect();
    return std::any_of(families.begin(), families.end(), [&](const auto& family) {
      return family.name == "farvec_compute_recall" && family.metric[0].gauge.value == value;
    });
  }
};

/// Two are asked for, and the nearest is missed.
TEST_F(RecallSamplerTest, ReportsWhatSearchesMiss) {
  controls.missed = 1;
  start();
  search_until_repeated(5);
  const v1::StatsResponse now = stats();
  EXPECT_EQ(now.recall(), 0.5);
  ASSERT_EQ(now.recalls_size(), 1);
  EXPECT_EQ(now.recalls(0).plan(), "walk");
  EXPECT_EQ(now.recalls(0).filter(), "none");
  EXPECT_EQ(now.recalls(0).wanted(), 2 * now.recalls(0).samples());
  EXPECT_EQ(now.recalls(0).found(), now.recalls(0).samples());
  EXPECT_TRUE(has_gauge(0.5));
}

TEST_F(RecallSamplerTest, FindsNothingMissedWhereNothingIs) {
  start();
  EXPECT_FALSE(stats().has_recall());
  search_until_repeated(2);
  EXPECT_EQ(stats().recall(), 1);
}

/// What it has the cores search is no query of a client.
TEST_F(RecallSamplerTest, CountsNoQueriesOfItsOwn) {
  start();
  search_until_repeated(3);
  const v1::StatsResponse now = stats();
  std::uint64_t drawn = now.recall_skipped();
  for (const auto& cell : now.recalls()) drawn += cell.samples();
  EXPECT_LE(drawn, now.queries_ok());
  EXPECT_EQ(now.totals().scans(), 0u);
  EXPECT_EQ(now.totals().walks(), now.queries_ok());
}

TEST_F(RecallSamplerTest, ExactSearchesOfClientsAreNotRepeated) {
  start();
  v1::SearchRequest asked = request();
  asked.set_exact(true);
  for (int i = 0; i < 5; ++i) {
    v1::SearchResponse response;
    ASSERT_TRUE(search(asked, &response).ok());
    EXPECT_EQ(response.results(0).counts().scans(), 1u);
  }
  EXPECT_EQ(recall->snapshot().samples() + recall->snapshot().skipped, 0u);
}

/// The first search spends the budget of 50 s.
TEST_F(RecallSamplerTest, KeepsToItsBudgetAndCountsWhatItSkips) {
  sampling.rows_per_second = 1;
  start();
  search_until_repeated(1);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(search(request()).ok());
  EXPECT_EQ(recall->snapshot().samples(), 1u);
  EXPECT_GE(recall->snapshot().skipped, 18u);
}

/// The budget allows the second one after half a second, when a query waits for a slot.
TEST_F(RecallSamplerTest, BeginsNothingWhileQueriesWait) {
  sampling.rows_per_second = 100;
  start();
  search_until_repeated(1);
  controls.hold = true;
  const int begun = controls.begun;
  std::thread first([&] { (void)search(request()); });
  EXPECT_TRUE(eventually([&] { return controls.begun == begun + 1; }));
  std::thread second([&] { (void)search(request()); });
  EXPECT_TRUE(eventually([&] { return supervisor->engine()->queued() == 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(1'000));
  EXPECT_EQ(supervisor->engine()->queued(), 1u);
  controls.hold = false;
  first.join();
  second.join();
  EXPECT_TRUE(eventually([&] { return recall->snapshot().samples() == 2; }));
}

TEST_F(RecallSamplerTest, AnIndexThatGoesAwayEndsNoNode) {
  start();
  for (int round = 0; round < 5; ++round) {
    (void)search(request());
    controls.alive = false;
    ASSERT_TRUE(eventually([&] { return controls.opened == round + 2; }));
    ASSERT_TRUE(attached());
  }
  search_until_repeated(1);
}

TEST_F(RecallSamplerTest, StopsWhileItWaits) {
  sampling.rows_per_second = 1;
  start();
  search_until_repeated(1);
  ASSERT_TRUE(search(request()).ok());
  const auto begun = std::chrono::steady_clock::now();
  recall->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
}

TEST(RecallStatisticsTest, TellsPlansAndFilters) {
  search::QueryCounts counts;
  EXPECT_EQ(plan_of(counts), RecallPlan::fresh);
  counts.scans = 2;
  EXPECT_EQ(plan_of(counts), RecallPlan::scan);
  counts.walks = 1;
  EXPECT_EQ(plan_of(counts), RecallPlan::both);
  counts.scans = 0;
  EXPECT_EQ(plan_of(counts), RecallPlan::walk);
  counts.clusters = 3;
  EXPECT_EQ(plan_of(counts), RecallPlan::clusters);
  EXPECT_EQ(filter_of(1000, 10'000), RecallFilter::tenth);
  EXPECT_EQ(filter_of(999, 10'000), RecallFilter::hundredth);
  EXPECT_EQ(filter_of(99, 10'000), RecallFilter::thousandth);
  EXPECT_EQ(filter_of(9, 10'000), RecallFilter::fewer);
}

TEST(RecallStatisticsTest, RecallIsThatOfTheLastSearches) {
  RecallStatistics statistics;
  EXPECT_EQ(statistics.snapshot().recall(), 1);
  for (int i = 0; i < 50; ++i) statistics.add(RecallPlan::walk, RecallFilter::none, 10, 5);
  EXPECT_EQ(statistics.snapshot().recall(), 0.5);
  for (int i = 0; i < 100; ++i) statistics.add(RecallPlan::scan, RecallFilter::tenth, 10, 10);
  const RecallSnapshot now = statistics.snapshot();
  EXPECT_EQ(now.recall(), 1);
  EXPECT_EQ(now.recent.samples, 100u);
  EXPECT_EQ(now.samples(), 150u);
  EXPECT_EQ(now.cells[0][0].found, 250u);
}

}  // namespace
}  // namespace farvec::compute_node
