#include "compute_node/service/engine.h"

#include <gtest/gtest.h>

#include <future>

#include "tests/unit/compute_node/fake_backend.h"

namespace farvec::compute_node {
namespace {

struct Answer {
  std::vector<Status> statuses;
  std::vector<NodeId> nearest;
};

struct EngineService : testing::Test {
  FakeControls controls;
  Replier replier;

  std::unique_ptr<Engine> engine(unsigned threads = 1, std::uint32_t queue = 16) {
    return std::make_unique<Engine>(fake_session(controls), EngineOptions{threads, queue, false},
                                    replier);
  }

  /// Queries i = 0.. at (i, i, i); the future is ready when the batch was answered.
  std::unique_ptr<Batch> batch(std::uint32_t queries, std::future<Answer>& future,
                               double deadline_ms = 60'000) {
    BatchShape shape;
    shape.queries = queries;
    shape.query_bytes = 3 * sizeof(float);
    shape.parameters = search::SearchParameters::make(2, search::GraphChoice{.list = 4}).value();
    shape.deadline = now_ticks() + us_to_ticks(1e3 * deadline_ms);
    auto made = std::make_unique<Batch>(shape);
    for (std::uint32_t i = 0; i < queries; ++i) {
      const float row[3] = {static_cast<float>(i), static_cast<float>(i), static_cast<float>(i)};
      std::memcpy(made->query_slot(i), row, sizeof row);
    }
    auto promise = std::make_shared<std::promise<Answer>>();
    future = promise->get_future();
    made->answer = [promise](Batch& done) {
      Answer answer;
      for (QueuedTask& task : done.tasks()) {
        answer.statuses.push_back(task.answer.status);
        answer.nearest.push_back(task.answer.found > 0 ? task.answer.ids[0] : kInvalidNode);
      }
      promise->set_value(std::move(answer));
    };
    return made;
  }
};

TEST_F(EngineService, AnswersEveryQueryOfABatchOverAllCores) {
  auto cores = engine(3, 64);
  std::future<Answer> future;
  auto work = batch(50, future);
  ASSERT_TRUE(cores->submit(work).ok());
  EXPECT_EQ(work, nullptr);
  const Answer answer = future.get();
  for (std::uint32_t i = 0; i < 50; ++i) {
    EXPECT_TRUE(answer.statuses[i].ok());
    EXPECT_EQ(answer.nearest[i], i);
  }
  EXPECT_EQ(cores->queued(), 0u);
  EXPECT_TRUE(eventually([&] { return cores->running() == 0; }));
}

TEST_F(EngineService, QueriesAreAlignedToCacheLines) {
  Batch one({.queries = 3, .query_bytes = 7});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.query_slot(i)) % kCacheLineBytes, 0u);
  }
}

TEST_F(EngineService, AFullQueueRefusesAndLeavesTheBatchWithTheCaller) {
  controls.hold = true;
  auto cores = engine(1, 2);
  std::future<Answer> running, waiting, refused;
  auto first = batch(1, running);
  ASSERT_TRUE(cores->submit(first).ok());
  ASSERT_TRUE(eventually([&] { return cores->running() == 1; }));
  auto second = batch(2, waiting);
  ASSERT_TRUE(cores->submit(second).ok());
  auto third = batch(1, refused);
  EXPECT_EQ(cores->submit(third).code(), StatusCode::resource_exhausted);
  EXPECT_NE(third, nullptr);
  controls.hold = false;
  EXPECT_TRUE(running.get().statuses[0].ok());
  EXPECT_TRUE(waiting.get().statuses[1].ok());
  EXPECT_TRUE(cores->submit(third).ok());
  EXPECT_TRUE(refused.get().statuses[0].ok());
}

TEST_F(EngineService, ABatchLargerThanTheQueueIsRefusedWhole) {
  auto cores = engine(2, 4);
  std::future<Answer> future;
  auto work = batch(5, future);
  EXPECT_EQ(cores->submit(work).code(), StatusCode::resource_exhausted);
  EXPECT_EQ(cores->queued(), 0u);
}

TEST_F(EngineService, AWaitingQueryExpiresBehindABusyCore) {
  controls.hold = true;
  auto cores = engine(1, 4);
  std::future<Answer> busy, late, patient;
  auto first = batch(1, busy);
  ASSERT_TRUE(cores->submit(first).ok());
  ASSERT_TRUE(eventually([&] { return cores->running() == 1; }));
  auto second = batch(1, late, 1);
  auto third = batch(1, patient);
  ASSERT_TRUE(cores->submit(second).ok());
  ASSERT_TRUE(cores->submit(third).ok());
  EXPECT_TRUE(eventually([&] {
    cores->expire(now_ticks());
    return cores->queued() == 1;
  }));
  EXPECT_EQ(late.get().statuses[0].code(), StatusCode::deadline_exceeded);
  controls.hold = false;
  EXPECT_TRUE(busy.get().statuses[0].ok());
  EXPECT_TRUE(patient.get().statuses[0].ok());
}

TEST_F(EngineService, ADeadlineDuringTheSearchFreesTheSlot) {
  controls.hold = true;
  auto cores = engine();
  std::future<Answer> future;
  auto work = batch(1, future, 20);
  ASSERT_TRUE(cores->submit(work).ok());
  EXPECT_EQ(future.get().statuses[0].code(), StatusCode::deadline_exceeded);
  EXPECT_TRUE(eventually([&] { return cores->running() == 0; }));
}

TEST_F(EngineService, ACancelledBatchNeverReachesTheCore) {
  controls.hold = true;
  auto cores = engine(1, 4);
  std::future<Answer> busy, gone;
  auto first = batch(1, busy);
  ASSERT_TRUE(cores->submit(first).ok());
  ASSERT_TRUE(eventually([&] { return cores->running() == 1; }));
  auto second = batch(2, gone);
  second->cancel_flag->store(true);
  ASSERT_TRUE(cores->submit(second).ok());
  controls.hold = false;
  for (const Status& status : gone.get().statuses) EXPECT_EQ(status.code(), StatusCode::cancelled);
  EXPECT_TRUE(busy.get().statuses[0].ok());
}

TEST_F(EngineService, ALostIndexEndsRunningAndWaitingQueries) {
  controls.hold = true;
  auto cores = engine(2, 16);
  std::future<Answer> future;
  auto work = batch(8, future);
  ASSERT_TRUE(cores->submit(work).ok());
  ASSERT_TRUE(eventually([&] { return cores->running() == 2; }));
  EXPECT_TRUE(cores->healthy());
  controls.alive = false;
  EXPECT_FALSE(cores->healthy());
  cores->stop({StatusCode::unavailable, "lost"});
  for (const Status& status : future.get().statuses) {
    EXPECT_EQ(status.code(), StatusCode::unavailable);
  }
  std::future<Answer> later;
  auto more = batch(1, later);
  ASSERT_TRUE(cores->submit(more).ok());
  EXPECT_EQ(later.get().statuses[0].code(), StatusCode::unavailable);
  EXPECT_EQ(cores->queued(), 0u);
}

TEST_F(EngineService, ACoreThatThrowsEndsItsTasks) {
  controls.throw_next = true;
  auto cores = engine(1, 16);
  std::future<Answer> future;
  auto work = batch(3, future);
  ASSERT_TRUE(cores->submit(work).ok());
  for (const Status& status : future.get().statuses) {
    EXPECT_EQ(status.code(), StatusCode::unavailable);
  }
  EXPECT_TRUE(eventually([&] { return !cores->healthy(); }));
  EXPECT_EQ(cores->running(), 0u);
}

TEST_F(EngineService, ManyProducersLoseNothing) {
  auto cores = engine(2, 4096);
  std::vector<std::thread> producers;
  std::atomic<int> answered{0};
  for (int p = 0; p < 4; ++p) {
    producers.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        std::future<Answer> future;
        auto work = batch(3, future);
        if (!cores->submit(work).ok()) continue;
        for (const Status& status : future.get().statuses) answered += status.ok();
      }
    });
  }
  for (std::thread& producer : producers) producer.join();
  EXPECT_EQ(answered, 4 * 100 * 3);
}

}  // namespace
}  // namespace farvec::compute_node
