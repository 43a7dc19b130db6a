#include "compute_node/service/core_feed.h"

#include <gtest/gtest.h>

namespace farvec::compute_node {
namespace {

/// A feed whose core is the test.
struct CoreFeedTest : testing::Test {
  AdmissionBudget budget{100};
  Replier replier;
  CoreFeed feed{budget, replier};
  std::vector<std::unique_ptr<Batch>> batches;

  /// Waits in the feed; `work` and the time that it has from now on are the caller's choice.
  QueuedTask& push(WorkUnits work, double time_ms) {
    BatchShape shape;
    shape.queries = 2;  // the second one never ends: the batch stays the test's
    shape.deadline = now_ticks() + us_to_ticks(time_ms * 1e3);
    shape.work = work;
    QueuedTask& task = batches.emplace_back(std::make_unique<Batch>(shape))->tasks()[0];
    EXPECT_TRUE(budget.try_take(1));
    feed.push(task);
    return task;
  }

  void end(search::SearchTask& task, double took_ms) {
    task.clock.started = now_ticks();
    task.clock.finished = task.clock.started + us_to_ticks(took_ms * 1e3);
    feed.done(task);
  }
};

constexpr double kHourMs = 3'600'000;

TEST_F(CoreFeedTest, CountsTheWorkThatWaitsAndRuns) {
  push(100, kHourMs);
  push(30, kHourMs);
  EXPECT_EQ(feed.work(), 130u);
  search::SearchTask* first = feed.next();
  EXPECT_EQ(feed.work(), 130u);
  end(*first, 1);
  EXPECT_EQ(feed.work(), 30u);
  feed.close({StatusCode::unavailable, "closed"});
  EXPECT_EQ(feed.work(), 0u);
  push(5, kHourMs);
  EXPECT_EQ(feed.work(), 0u);
}

TEST_F(CoreFeedTest, ASearchWithoutTheTimeForItIsNotBegun) {
  for (int i = 0; i < 10; ++i) push(100, kHourMs);
  for (int i = 0; i < 10; ++i) end(*feed.next(), 60'000);  // a minute for 100 units
  QueuedTask& alone = push(100, 30'000);
  QueuedTask& hopeless = push(100, 30'000);
  QueuedTask& patient = push(100, kHourMs);
  EXPECT_EQ(feed.next(), &alone) << "nothing else runs: it may try";
  EXPECT_EQ(feed.next(), &patient);
  EXPECT_EQ(hopeless.answer.status.code(), StatusCode::deadline_exceeded);
  EXPECT_TRUE(hopeless.expired_waiting);
  EXPECT_EQ(feed.running(), 2u);
  EXPECT_EQ(feed.work(), 200u);
  EXPECT_EQ(budget.taken(), 0u);
  end(alone, 1);
  end(patient, 1);
}

TEST_F(CoreFeedTest, WhatFailsSaysNothingAboutTheTimeOfASearch) {
  for (int i = 0; i < 20; ++i) push(100, kHourMs);
  for (int i = 0; i < 20; ++i) {
    search::SearchTask* task = feed.next();
    task->answer.status = {StatusCode::unavailable, "lost"};
    end(*task, 1);
  }
  EXPECT_EQ(feed.rate().expected(100, now_ticks()), 0u);
}

}  // namespace
}  // namespace farvec::compute_node
