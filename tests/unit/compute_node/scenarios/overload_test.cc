#include <future>

#include "rpc/refusal.h"
#include "tests/unit/compute_node/service/query_service_fixture.h"

namespace farvec::compute_node {
namespace {

/// More comes than the fake core can serve in time.
struct OverloadedService : QueryServiceTest {};

TEST_F(OverloadedService, WhatCannotBeAnsweredInTimeIsRefusedOnArrival) {
  start(600);
  controls.slow_us = 20'000;
  auto busy = std::async(std::launch::async, [&] {
    auto many = request({});
    for (int i = 0; i < 500; ++i) many.add_queries(row(1));
    return search(many).ok();
  });
  ASSERT_TRUE(eventually([&] { return supervisor->engine()->queued() > 400; }));
  grpc::Status status;
  std::string refusal, retry_after;
  EXPECT_TRUE(eventually([&] {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
    v1::SearchResponse response;
    status = stub->Search(&context, request(), &response);
    for (const auto& [key, value] : context.GetServerTrailingMetadata()) {
      (key == rpc::kRefusalKey ? refusal : retry_after) = std::string(value.data(), value.size());
    }
    return status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED;
  }));
  EXPECT_THAT(status.error_message(), testing::StartsWith("too late: the answer is expected in"));
  EXPECT_EQ(refusal, "too_late");
  EXPECT_GT(std::stoi(retry_after), 1'000);
  EXPECT_GT(stats().expected_wait_us(), 1e6);
  controls.slow_us = 0;
  EXPECT_TRUE(busy.get());
  EXPECT_EQ(stats().refused_too_late(), 1u);
  EXPECT_EQ(stats().queries_rejected(), 1u);
  EXPECT_EQ(stats().expected_wait_us(), 0);
  EXPECT_EQ(refused_metric("too_late"), 1);
  EXPECT_EQ(refused_metric("queue_full"), 0);
}

TEST_F(OverloadedService, AnAnswerAfterItsDeadlineIsNone) {
  start();
  controls.slow_us = 100'000;
  // On a busy machine a call may not even reach the node in its time: another one does.
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(search(request(), nullptr, 30).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
    EXPECT_TRUE(eventually([&] {
      const auto engine = supervisor->engine();
      return engine->running() == 0 && engine->queued() == 0;
    }));
    // One that had a slot: where the machine is busy, others expire before they get one.
    const StatisticsSnapshot now = statistics.snapshot();
    return now.with(StatusCode::deadline_exceeded) > now.expired_waiting;
  }));
  EXPECT_EQ(statistics.snapshot().with(StatusCode::ok), 0u);
}

TEST_F(OverloadedService, TellsWhatExpiredInTheQueue) {
  start();
  controls.hold = true;
  auto running = std::async(std::launch::async, [&] { return search(request()).ok(); });
  ASSERT_TRUE(eventually([&] { return supervisor->engine()->running() == 1; }));
  EXPECT_TRUE(eventually([&] {
    EXPECT_FALSE(search(request({1, 2}), nullptr, 30).ok());
    return statistics.snapshot().expired_waiting > 0;
  }));
  controls.hold = false;
  EXPECT_TRUE(running.get());
  EXPECT_TRUE(eventually([&] {
    const std::uint64_t expired = statistics.snapshot().expired_waiting;
    return expired % 2 == 0 && refused_metric("expired_in_queue") == static_cast<double>(expired);
  })) << "both queries of each call";
}

}  // namespace
}  // namespace farvec::compute_node
