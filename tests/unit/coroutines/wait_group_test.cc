#include "coroutines/wait_group.h"

#include <gtest/gtest.h>

#include <vector>

namespace farvec::coroutines {
namespace {

TEST(WaitGroup, DoesNotSuspendWhenNothingIsPending) {
  Scheduler scheduler;
  ASSERT_TRUE(scheduler
                  .spawn([&] {
                    WaitGroup group(scheduler);
                    EXPECT_TRUE(group.wait().ok());
                    group.add(2);
                    group.done();
                    EXPECT_EQ(group.pending(), 1u);
                    group.done();
                    EXPECT_TRUE(group.wait(0).ok());
                  })
                  .ok());
  scheduler.run();
}

TEST(WaitGroup, WakesWhenTheLastIsDone) {
  Scheduler scheduler;
  std::vector<WaitGroup*> in_flight;
  scheduler.set_poller([&] {
    if (in_flight.empty()) return false;
    in_flight.back()->done();
    EXPECT_EQ(in_flight.back()->pending(), 2u);
    in_flight.back()->done(2);
    in_flight.pop_back();
    return true;
  });
  ASSERT_TRUE(scheduler
                  .spawn([&] {
                    WaitGroup group(scheduler);
                    for (int i = 0; i < 10; ++i) {
                      group.add(3);
                      in_flight.push_back(&group);
                      EXPECT_TRUE(group.wait().ok());
                      EXPECT_EQ(group.pending(), 0u);
                    }
                  })
                  .ok());
  scheduler.run();
}

TEST(WaitGroup, DoneAfterTheDeadlineIsDrained) {
  Scheduler scheduler;
  WaitGroup group(scheduler);
  bool late = false;
  scheduler.set_poller([&] {
    if (!late || group.pending() == 0) return false;
    group.done();
    return true;
  });
  ASSERT_TRUE(scheduler
                  .spawn([&] {
                    group.add(2);
                    EXPECT_EQ(group.wait(now_ticks() + us_to_ticks(200)).code(),
                              StatusCode::deadline_exceeded);
                    EXPECT_EQ(group.pending(), 2u);
                    late = true;
                    EXPECT_TRUE(group.wait().ok());
                    EXPECT_EQ(group.pending(), 0u);
                    group.add();
                    group.done();
                    EXPECT_TRUE(group.wait().ok());
                  })
                  .ok());
  scheduler.run();
}

TEST(WaitGroup, IgnoresWakesThatAreNotItsOwn) {
  Scheduler scheduler;
  Fiber* waiter = nullptr;
  WaitGroup group(scheduler);
  bool ended = false;
  ASSERT_TRUE(scheduler
                  .spawn([&] {
                    waiter = scheduler.running();
                    group.add();
                    EXPECT_TRUE(group.wait().ok());
                    ended = true;
                  })
                  .ok());
  ASSERT_TRUE(scheduler
                  .spawn([&] {
                    for (int i = 0; i < 3; ++i) {
                      scheduler.wake(waiter);
                      scheduler.yield();
                      EXPECT_FALSE(ended);
                    }
                    group.done();
                  })
                  .ok());
  scheduler.run();
  EXPECT_TRUE(ended);
}

TEST(WaitGroupDeathTest, MustOutliveItsOperations) {
  EXPECT_DEATH(
      {
        Scheduler scheduler;
        WaitGroup group(scheduler);
        group.add();
      },
      "still in flight");
}

}  // namespace
}  // namespace farvec::coroutines
