#include "compute_node/service/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "compute_node/daemon/metrics.h"
#include "tests/unit/compute_node/fake_backend.h"

namespace farvec::compute_node {
namespace {

using testing::HasSubstr;

/// A supervisor over the fake index, whose rows are (i, i, i).
struct SupervisorTest : testing::Test {
  FakeControls controls;
  FakeBackend backend{controls};
  Replier replier;
  ServiceStatistics statistics;
  std::unique_ptr<Supervisor> supervisor;
  std::uint64_t first = 0;  ///< generation that start_and_serve() has seen served

  void start(std::chrono::milliseconds ready_bound = std::chrono::seconds(20)) {
    SupervisorOptions options;
    options.engine = {2, 16, false, ready_bound};
    options.first_back_off = std::chrono::milliseconds(1);
    options.last_back_off = std::chrono::milliseconds(5);
    supervisor = std::make_unique<Supervisor>(backend, replier, options);
  }
  void start_and_serve(std::chrono::milliseconds ready_bound = std::chrono::seconds(20)) {
    start(ready_bound);
    ASSERT_TRUE(eventually([&] { return supervisor->engine() != nullptr; }));
    // Not the first that was opened, when its cores had no processor within `ready_bound`.
    first = generation();
  }
  void publish_newer() { controls.newest = static_cast<int>(first) + 1; }

  std::uint64_t generation() const { return supervisor->engine()->index().generation; }

  /// A query at row 7 goes to the index of that generation and is answered rightly.
  void expect_answered_by(std::uint64_t generation) {
    const std::shared_ptr<Engine> engine = supervisor->engine();
    ASSERT_NE(engine, nullptr);
    ASSERT_EQ(engine->index().generation, generation);
    BatchShape shape;
    shape.queries = 1;
    shape.query_bytes = 3 * sizeof(float);
    shape.parameters = search::SearchParameters::make(1, search::GraphChoice{.list = 4}).value();
    shape.deadline = now_ticks() + us_to_ticks(60e6);
    auto batch = std::make_unique<Batch>(shape);
    const float row[3] = {7, 7, 7};
    std::memcpy(batch->query_slot(0), row, sizeof row);
    std::promise<std::pair<Status, NodeId>> answer;
    batch->answer = [&](Batch& done) {
      const QueuedTask& task = done.tasks().front();
      answer.set_value(
          {task.answer.status, task.answer.found > 0 ? task.answer.ids[0] : kInvalidNode});
    };
    ASSERT_TRUE(engine->submit(batch).ok());
    const auto [status, nearest] = answer.get_future().get();
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(nearest, 7u);
  }

  /// Asks all the time, at most 20 s. False as soon as the first index does not answer.
  template <typename Condition>
  bool served_by_the_first_until(Condition condition) {
    return eventually([&] {
             expect_answered_by(first);
             return HasFatalFailure() || condition();
           }) &&
           !HasFatalFailure();
  }

  /// The value of the counter with that label; -1 when there is none.
  double refused(const std::string& reason) const {
    for (const auto& family : ServiceMetrics(statistics, *supervisor).Collect()) {
      if (family.name != "farvec_compute_switches_refused_total") continue;
      for (const auto& metric : family.metric) {
        if (metric.label.front().value == reason) return metric.counter.value;
      }
    }
    return -1;
  }
};

TEST_F(SupervisorTest, ANewerIndexWhoseCoresFailNeverTakesOver) {
  start_and_serve();
  controls.fail_cores = true;
  publish_newer();
  // Several attempts fail meanwhile, and not one query sees any of them.
  EXPECT_TRUE(served_by_the_first_until([&] { return controls.opened >= 5; }));
  EXPECT_EQ(supervisor->reopened(), 0u);
  EXPECT_EQ(supervisor->switched(), 0u);
  EXPECT_GE(refused("cores"), 3);
  EXPECT_EQ(refused("open"), 0);

  controls.fail_cores = false;
  EXPECT_TRUE(eventually([&] { return generation() > first; })) << "it is tried again";
  expect_answered_by(generation());
  EXPECT_EQ(supervisor->reopened(), 0u);
}

TEST_F(SupervisorTest, ANewerIndexWhoseCoresAreNotReadyInTimeIsDiscarded) {
  start_and_serve(std::chrono::milliseconds(20));
  controls.stall_cores = true;
  publish_newer();
  EXPECT_TRUE(served_by_the_first_until([&] { return refused("cores") >= 2; }));
  EXPECT_LE(controls.open, 2) << "what was discarded is closed";
  controls.newest = static_cast<int>(first);
  controls.stall_cores = false;
  EXPECT_TRUE(eventually([&] { return controls.open == 1; }));
}

TEST_F(SupervisorTest, ANewerIndexThatCannotBeOpenedIsCounted) {
  start_and_serve();
  controls.reachable = false;
  publish_newer();
  EXPECT_TRUE(eventually([&] { return refused("open") >= 2; }));
  EXPECT_EQ(refused("cores"), 0);
  expect_answered_by(first);
}

TEST_F(SupervisorTest, CoresThatFailAtTheFirstOpeningEndIt) {
  controls.fail_cores = true;
  start();
  ASSERT_TRUE(eventually([&] { return !supervisor->failure().empty(); }));
  EXPECT_THAT(supervisor->failure(), HasSubstr("no locked memory left"));
  EXPECT_EQ(supervisor->engine(), nullptr);
}

TEST_F(SupervisorTest, StopsWhileCoresBegin) {
  controls.stall_cores = true;
  start(std::chrono::minutes(10));
  EXPECT_TRUE(eventually([&] { return controls.open == 1; }));
  supervisor->stop();
  EXPECT_EQ(controls.open, 0);
}

}  // namespace
}  // namespace farvec::compute_node
