#include "coroutines/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "coroutines/sanitizer.h"

namespace farvec::coroutines {
namespace {

void expect_spawned(Scheduler& scheduler, std::function<void()> entry) {
  ASSERT_TRUE(scheduler.spawn(std::move(entry)).ok());
}

TEST(Scheduler, RunsNothing) {
  Scheduler scheduler;
  scheduler.run();
  EXPECT_FALSE(scheduler.run_once());
  EXPECT_EQ(scheduler.running(), nullptr);
}

TEST(Scheduler, KnowsItselfInsideAFiber) {
  Scheduler scheduler;
  expect_spawned(scheduler, [&] {
    EXPECT_EQ(&Scheduler::current(), &scheduler);
    EXPECT_NE(scheduler.running(), nullptr);
  });
  scheduler.run();
}

// The oracle is a queue of (fiber, steps left): a yield goes to its back.
TEST(Scheduler, RunsFirstComeFirstServed) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const std::size_t fibers = 1 + random.below(40);
    const auto interval = static_cast<std::uint32_t>(1 + random.below(20));
    Scheduler scheduler({.max_fibers = fibers, .poll_interval = interval});
    std::vector<std::size_t> seen;
    std::deque<std::pair<std::size_t, std::size_t>> oracle;
    for (std::size_t f = 0; f < fibers; ++f) {
      const std::size_t steps = 1 + random.below(10);
      oracle.emplace_back(f, steps);
      expect_spawned(scheduler, [&, f, steps] {
        for (std::size_t s = 0; s < steps; ++s) {
          seen.push_back(f);
          if (s + 1 < steps) scheduler.yield();
        }
      });
    }
    std::vector<std::size_t> expected;
    while (!oracle.empty()) {
      auto [f, steps] = oracle.front();
      oracle.pop_front();
      expected.push_back(f);
      if (steps > 1) oracle.emplace_back(f, steps - 1);
    }
    scheduler.run();
    EXPECT_EQ(seen, expected) << "seed " << seed;
  }
}

TEST(Scheduler, BoundsTheNumberOfFibersAndUsesSlotsAgain) {
  Scheduler scheduler({.max_fibers = 3});
  int ran = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 3; ++i) {
      expect_spawned(scheduler, [&] {
        scheduler.yield();
        ++ran;
      });
    }
    EXPECT_EQ(scheduler.spawn([] {}).code(), StatusCode::resource_exhausted);
    EXPECT_EQ(scheduler.live_fibers(), 3u);
    scheduler.run();
  }
  EXPECT_EQ(ran, 150);
  EXPECT_EQ(scheduler.live_fibers(), 0u);
}

TEST(Scheduler, SpawnsFromAFiber) {
  Scheduler scheduler({.max_fibers = 2});
  int depth = 0;
  std::function<void()> next = [&] {
    if (++depth < 100) expect_spawned(scheduler, next);
  };
  expect_spawned(scheduler, next);
  scheduler.run();
  EXPECT_EQ(depth, 100);
}

TEST(Scheduler, WakeBeforeSuspendIsNotLost) {
  Scheduler scheduler;
  bool ended = false;
  expect_spawned(scheduler, [&] {
    scheduler.wake(scheduler.running());
    scheduler.suspend();
    ended = true;
  });
  scheduler.run();
  EXPECT_TRUE(ended);
}

TEST(Scheduler, DoubleWakeCountsOnce) {
  Scheduler scheduler;
  Fiber* sleeper = nullptr;
  int resumed = 0;
  expect_spawned(scheduler, [&] {
    sleeper = scheduler.running();
    scheduler.suspend();
    ++resumed;
    scheduler.suspend();
    ++resumed;
  });
  expect_spawned(scheduler, [&] {
    scheduler.wake(sleeper);
    scheduler.wake(sleeper);
    for (int i = 0; i < 5; ++i) scheduler.yield();
    EXPECT_EQ(resumed, 1);
    scheduler.wake(sleeper);
  });
  scheduler.run();
  EXPECT_EQ(resumed, 2);
}

TEST(Scheduler, PollsWhenNobodyIsReadyAndAtLeastEveryInterval) {
  Scheduler scheduler({.max_fibers = 2, .poll_interval = 8});
  Fiber* sleeper = nullptr;
  std::size_t switches = 0;
  std::size_t polls = 0;
  scheduler.set_poller([&] {
    EXPECT_LE(switches, 8u);
    switches = 0;
    if (++polls < 20 || sleeper == nullptr) return false;
    scheduler.wake(sleeper);
    return true;
  });
  expect_spawned(scheduler, [&] {
    for (int i = 0; i < 100; ++i) {
      ++switches;
      scheduler.yield();
    }
  });
  expect_spawned(scheduler, [&] {
    ++switches;
    sleeper = scheduler.running();
    scheduler.suspend();
  });
  scheduler.run();
  EXPECT_GE(polls, 20u);
}

TEST(Scheduler, KnowsWhetherAFiberWaitsForItsTurn) {
  Scheduler scheduler;
  EXPECT_FALSE(scheduler.any_ready());
  expect_spawned(scheduler, [&] {
    EXPECT_TRUE(scheduler.any_ready()) << "the second has not begun";
    scheduler.yield();
    EXPECT_FALSE(scheduler.any_ready()) << "it has ended";
  });
  expect_spawned(scheduler, [&] { EXPECT_TRUE(scheduler.any_ready()) << "the first has yielded"; });
  EXPECT_TRUE(scheduler.any_ready());
  scheduler.run();
  EXPECT_FALSE(scheduler.any_ready());
}

TEST(Scheduler, RunOnceServesALoop) {
  Scheduler scheduler;
  int steps = 0;
  expect_spawned(scheduler, [&] {
    for (; steps < 100; ++steps) scheduler.yield();
  });
  int rounds = 0;
  while (scheduler.live_fibers() > 0) {
    EXPECT_TRUE(scheduler.run_once());
    ++rounds;
  }
  EXPECT_EQ(steps, 100);
  EXPECT_GT(rounds, 1);
}

TEST(Scheduler, ExpiresInOrderOfDeadlines) {
  Scheduler scheduler({.max_fibers = 32});
  Random random(7);
  const Ticks start = us_to_ticks(5000) + now_ticks();
  std::vector<Ticks> expected;
  std::vector<Ticks> seen;
  for (int f = 0; f < 32; ++f) {
    const Ticks deadline = start + us_to_ticks(static_cast<double>(random.below(2000)));
    expected.push_back(deadline);
    expect_spawned(scheduler, [&, deadline] {
      EXPECT_FALSE(scheduler.suspend_until(deadline));
      EXPECT_GE(now_ticks(), deadline);
      seen.push_back(deadline);
    });
  }
  std::sort(expected.begin(), expected.end());
  scheduler.run();
  EXPECT_EQ(seen, expected);
}

TEST(Scheduler, WakeBeatsDeadlineAndForgetsIt) {
  Scheduler scheduler;
  Fiber* sleeper = nullptr;
  expect_spawned(scheduler, [&] {
    sleeper = scheduler.running();
    EXPECT_TRUE(scheduler.suspend_until(now_ticks() + us_to_ticks(3'600'000'000.0)));
    EXPECT_FALSE(scheduler.suspend_until(now_ticks() + us_to_ticks(100)));
  });
  expect_spawned(scheduler, [&] { scheduler.wake(sleeper); });
  scheduler.run();
}

TEST(Scheduler, AnExceptionEndsItsFiberOnly) {
  Scheduler scheduler;
  int ended = 0;
  expect_spawned(scheduler, [&] { throw std::runtime_error("expected by this test"); });
  expect_spawned(scheduler, [&] { throw 42; });
  expect_spawned(scheduler, [&] { ++ended; });
  scheduler.run();
  EXPECT_EQ(ended, 1);
}

TEST(Scheduler, ExceptionsOfManyFibersInterleave) {
  Scheduler scheduler({.max_fibers = 8});
  int caught = 0;
  for (int f = 0; f < 8; ++f) {
    expect_spawned(scheduler, [&, f] {
      for (int i = 0; i < 50; ++i) {
        const std::string text = std::to_string(f * 1000 + i);
        try {
          scheduler.yield();
          throw std::runtime_error(text);
        } catch (const std::runtime_error& e) {
          scheduler.yield();  // the others throw and catch now
          EXPECT_EQ(e.what(), text);
          try {
            throw;
          } catch (const std::runtime_error& again) {
            EXPECT_EQ(again.what(), text);
            ++caught;
          }
        }
        EXPECT_EQ(std::uncaught_exceptions(), 0);
        EXPECT_EQ(std::current_exception(), nullptr);
      }
    });
  }
  scheduler.run();
  EXPECT_EQ(caught, 400);
}

TEST(Scheduler, LocalsOfDeepStacksSurviveSwitches) {
  Scheduler scheduler({.max_fibers = 16, .stack_bytes = 64 * 1024});
  std::function<std::uint64_t(int, std::uint64_t)> dive = [&](int depth, std::uint64_t tag) {
    volatile std::uint64_t local = tag + static_cast<std::uint64_t>(depth);
    scheduler.yield();
    const std::uint64_t below = depth == 0 ? 0 : dive(depth - 1, tag);
    EXPECT_EQ(local, tag + static_cast<std::uint64_t>(depth));
    return below + local;
  };
  for (std::uint64_t f = 0; f < 16; ++f) {
    expect_spawned(scheduler, [&, f] { EXPECT_EQ(dive(40, f * 1000), 41 * f * 1000 + 820); });
  }
  scheduler.run();
}

/// Else they would share the few sets of the nearest cache that belong to it.
TEST(Scheduler, FramesOfFibersLieInDifferentPlacesOfTheirPages) {
  constexpr std::size_t kFibers = 16;
  Scheduler scheduler({.max_fibers = kFibers});
  std::set<std::uintptr_t> lines;
  std::vector<int> in_quarter(4, 0);
  for (std::size_t f = 0; f < kFibers; ++f) {
    expect_spawned(scheduler, [&] {
      const volatile char local = 0;
      const auto place = reinterpret_cast<std::uintptr_t>(&local) % 4096;
      lines.insert(place / 64);
      ++in_quarter[place / 1024];
    });
  }
  scheduler.run();
  EXPECT_EQ(lines.size(), kFibers);
  EXPECT_GE(*std::min_element(in_quarter.begin(), in_quarter.end()), 3);
}

TEST(Scheduler, EachThreadHasItsOwn) {
  std::vector<std::thread> threads;
  std::vector<int> counts(4);
  for (int& count : counts) {
    threads.emplace_back([&count] {
      Scheduler scheduler;
      for (int f = 0; f < 10; ++f) {
        expect_spawned(scheduler, [&] {
          for (int i = 0; i < 100; ++i, ++count) Scheduler::current().yield();
        });
      }
      scheduler.run();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(counts, std::vector<int>(4, 1000));
}

TEST(SchedulerDeathTest, SaysSoWhenNothingCanWake) {
  EXPECT_DEATH(
      {
        Scheduler scheduler;
        (void)scheduler.spawn([&] { scheduler.suspend(); });
        scheduler.run();
      },
      "nothing can wake");
}

int overflow(int depth) {
  volatile char frame[1024];
  frame[0] = static_cast<char>(depth);
  return depth == 0 ? frame[0] : overflow(depth - 1) + frame[0];
}

TEST(SchedulerDeathTest, StackExhaustionHitsTheGuardPage) {
#if defined(FARVEC_ASAN) || defined(FARVEC_TSAN)
  GTEST_SKIP() << "sanitizers catch the signal in their own way";
#endif
  EXPECT_EXIT(
      {
        Scheduler scheduler({.max_fibers = 2, .stack_bytes = 16 * 1024});
        (void)scheduler.spawn([] { overflow(1000); });
        scheduler.run();
      },
      testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace farvec::coroutines
