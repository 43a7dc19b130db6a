#include "client/c/worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/status_error.h"
#include "client/c/session.h"

namespace farvec::c {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kPatience{60};

/// Waits until it is true, and says whether it became so.
bool comes_true(const std::function<bool()>& condition) {
  const auto end = Clock::now() + kPatience;
  while (!condition() && Clock::now() < end) std::this_thread::sleep_for(milliseconds(1));
  return condition();
}

int says(void* flag) {
  return *static_cast<std::atomic<bool>*>(flag) ? 1 : 0;
}

StatusCode code_of(const std::function<void()>& call) {
  try {
    call();
    return StatusCode::ok;
  } catch (const StatusError& error) {
    return error.code;
  }
}

struct WorkerTest : testing::Test {
  std::shared_ptr<Worker> worker = Worker::start();
  Wait wait{.deadline = kPatience};

  void TearDown() override { worker->close(kPatience); }
};

TEST_F(WorkerTest, MakesWorkOnOneThreadThatIsNotTheCallers) {
  std::thread::id first, second;
  worker->run(wait, {[&](auto&, const Turn&) { first = std::this_thread::get_id(); }});
  worker->run(wait, {[&](auto&, const Turn&) { second = std::this_thread::get_id(); }});
  EXPECT_EQ(first, second);
  EXPECT_NE(first, std::this_thread::get_id());
}

TEST_F(WorkerTest, ThrowsWhatTheWorkThrows) {
  const Work fails{[](auto&, const Turn&) { throw StatusError(StatusCode::data_loss, "gone"); }};
  EXPECT_EQ(code_of([&] { worker->run(wait, fails); }), StatusCode::data_loss);
  EXPECT_EQ(code_of([&] { worker->run(wait, {[](auto&, const Turn&) {}}); }), StatusCode::ok);
}

/// Work that ends well although its caller has gone is taken back, once.
TEST_F(WorkerTest, UndoesWhatNoCallerTook) {
  std::atomic<bool> started{false};
  std::atomic<int> made{0}, undone{0};
  wait.interrupted = says;
  wait.context = &started;
  const Work work{[&](auto&, const Turn& turn) {
                    started = true;
                    EXPECT_TRUE(comes_true([&] { return turn.cancelled.load(); }));
                    ++made;
                  },
                  [&] { ++undone; }};
  EXPECT_EQ(code_of([&] { worker->run(wait, work); }), StatusCode::cancelled);
  // What comes next comes after it.
  Work next{[&](auto&, const Turn& turn) {
              EXPECT_FALSE(turn.cancelled);
              EXPECT_EQ(made, 1);
              EXPECT_EQ(undone, 1);
            },
            [&] { ++undone; }};
  worker->run({.deadline = kPatience}, next);
  EXPECT_EQ(undone, 1);
}

TEST_F(WorkerTest, TakesBackNothingOfWorkThatFailed) {
  std::atomic<bool> started{false};
  std::atomic<int> undone{0};
  wait.interrupted = says;
  wait.context = &started;
  const Work work{[&](auto&, const Turn& turn) {
                    started = true;
                    EXPECT_TRUE(comes_true([&] { return turn.cancelled.load(); }));
                    throw Error("it failed");
                  },
                  [&] { ++undone; }};
  EXPECT_EQ(code_of([&] { worker->run(wait, work); }), StatusCode::cancelled);
  worker->run({.deadline = kPatience}, {[](auto&, const Turn&) {}});
  EXPECT_EQ(undone, 0);
}

TEST_F(WorkerTest, EndsAWaitAtItsDeadline) {
  const Work work{
      [](auto&, const Turn& turn) { comes_true([&] { return turn.cancelled.load(); }); }};
  EXPECT_EQ(code_of([&] { worker->run({.deadline = milliseconds(5)}, work); }),
            StatusCode::deadline_exceeded);
}

/// Work that waits until it is let go, and callers that wait for their turn after it.
struct BusyWorkerTest : WorkerTest {
  std::atomic<bool> go{false};
  std::atomic<int> ended{0};
  std::vector<StatusCode> codes = std::vector<StatusCode>(1 + Worker::kMostWaiting);
  std::vector<std::atomic<int>> asked = std::vector<std::atomic<int>>(1 + Worker::kMostWaiting);
  std::vector<std::thread> callers;

  static int counts(void* number) {
    ++*static_cast<std::atomic<int>*>(number);
    return 0;
  }

  void call(std::size_t caller) {
    const Work work{[this](auto&, const Turn& turn) {
      EXPECT_TRUE(comes_true([&] { return go || turn.cancelled; }));
    }};
    const Wait with{.deadline = kPatience, .interrupted = counts, .context = &asked[caller]};
    codes[caller] = code_of([&] { worker->run(with, work); });
    ++ended;
  }

  void SetUp() override {
    for (std::size_t i = 0; i < codes.size(); ++i) {
      callers.emplace_back([this, i] { call(i); });
      // A caller that is asked again has handed its work over.
      ASSERT_TRUE(comes_true([&] { return asked[i] >= 2; }));
    }
  }
  void TearDown() override {
    for (std::thread& caller : callers) caller.join();
    WorkerTest::TearDown();
  }
};

TEST_F(BusyWorkerTest, RefusesMoreThanItsMostAndMakesAllOthers) {
  EXPECT_EQ(code_of([&] { worker->run(wait, {[](auto&, const Turn&) {}}); }),
            StatusCode::resource_exhausted);
  go = true;
  EXPECT_TRUE(comes_true([&] { return ended == static_cast<int>(codes.size()); }));
  for (const StatusCode code : codes) EXPECT_EQ(code, StatusCode::ok);
}

TEST_F(BusyWorkerTest, ClosingEndsTheCallUnderWayAndThoseThatWait) {
  worker->close(kPatience);
  EXPECT_TRUE(comes_true([&] { return ended == static_cast<int>(codes.size()); }));
  for (std::size_t i = 1; i < codes.size(); ++i) EXPECT_EQ(codes[i], StatusCode::cancelled);
  EXPECT_EQ(code_of([&] { worker->run(wait, {[](auto&, const Turn&) {}}); }),
            StatusCode::failed_precondition);
}

}  // namespace
}  // namespace farvec::c
