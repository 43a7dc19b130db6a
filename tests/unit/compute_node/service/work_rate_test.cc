#include "compute_node/service/work_rate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/unit/compute_node/service/core_simulation.h"

namespace farvec::compute_node {
namespace {

constexpr double kPeak = 5'000;  ///< searches of 100 units a second that a simulated core serves

Ticks ms(double time) {
  return us_to_ticks(time * 1e3);
}

/// 16 slots, 50 ms for every search, all of the same length.
SimulatedLoad load_of(double rate, double seconds) {
  SimulatedLoad load;
  load.rate = rate;
  load.seconds = seconds;
  return load;
}

double goodput(const SimulatedOutcome& outcome, const SimulatedLoad& load) {
  return static_cast<double>(outcome.in_time) / load.seconds;
}

/// A core with one slot that is never free, which serves searches of 100 units.
struct BusySlot {
  WorkRate rate;
  Ticks now = ms(1);

  void serve(int searches, double each_ms) {
    for (int i = 0; i < searches; ++i) {
      const Ticks started = now;
      rate.took(started);
      rate.ended(100, 1, started, now += ms(each_ms));
    }
  }
  /// For 100 units.
  double expected_ms() const { return ticks_to_us(rate.expected(100, now)) / 1e3; }
};

TEST(WorkRate, KnowsNothingBeforeEightSearchesHaveEnded) {
  BusySlot core;
  core.serve(7, 2);
  EXPECT_EQ(core.expected_ms(), 0);
  core.serve(1, 2);
  EXPECT_NEAR(core.expected_ms(), 2, 1e-3);
  EXPECT_NEAR(ticks_to_us(core.rate.expected(1'050, core.now)), 21'000, 1);
}

TEST(WorkRate, IsThatOfAllSlotsTogether) {
  WorkRate rate;
  for (Ticks now = ms(1); now < ms(100); now += ms(1)) {
    rate.took(now);
    rate.ended(100, 16, now, now + ms(8));
  }
  EXPECT_NEAR(ticks_to_us(rate.expected(100, ms(100))), 500, 1);
}

TEST(WorkRate, SearchesBesideAFreeSlotSayNothing) {
  BusySlot core;
  for (int i = 0; i < 100; ++i) {
    core.rate.took(core.now);
    core.rate.ran_dry();
    core.rate.ended(100, 1, core.now, core.now + ms(2));
    core.now += ms(2);
  }
  EXPECT_EQ(core.expected_ms(), 0);
  const Ticks started = core.now - 1;  // the slot was free then
  core.rate.took(core.now);
  for (int i = 0; i < 100; ++i) core.rate.ended(100, 1, started, core.now);
  EXPECT_EQ(core.expected_ms(), 0);
}

TEST(WorkRate, ATooLongTimeIsMendedBySearchesBesideFreeSlots) {
  BusySlot core;
  core.serve(20, 10);
  const auto serve_beside_free_slots = [&](double each_ms) {
    for (int i = 0; i < 300; ++i) {
      core.rate.took(core.now);
      core.rate.ran_dry();
      const Ticks started = core.now;
      core.rate.ended(100, 1, started, core.now += ms(each_ms));
    }
  };
  serve_beside_free_slots(1);
  EXPECT_LT(core.expected_ms(), 1.2);
  EXPECT_GE(core.expected_ms(), 1);
  const double known = core.expected_ms();
  serve_beside_free_slots(3);  // the core may have waited
  EXPECT_EQ(core.expected_ms(), known);
}

TEST(WorkRate, IsForgottenWhenNothingConfirmsIt) {
  BusySlot core;
  core.serve(20, 2);
  core.now += ms(900);
  EXPECT_GT(core.expected_ms(), 0);
  core.now += ms(200);
  EXPECT_EQ(core.expected_ms(), 0);
  core.serve(7, 4);
  EXPECT_EQ(core.expected_ms(), 0);
  core.serve(1, 4);
  EXPECT_NEAR(core.expected_ms(), 4, 1e-3);
}

TEST(WorkRate, LongSearchesAreRememberedForAsManyOfThem) {
  BusySlot core;
  core.serve(20, 2'000);
  core.now += ms(15'000);
  EXPECT_NEAR(core.expected_ms(), 2'000, 1e-3);
  core.now += ms(2'000);
  EXPECT_EQ(core.expected_ms(), 0);
}

TEST(WorkRate, APauseIsNoNewRate) {
  BusySlot core;
  core.serve(64, 1);
  core.serve(1, 900);
  EXPECT_LT(core.expected_ms(), 1.2);
}

TEST(WorkRate, FollowsAnotherRateWithinFewHundredSearches) {
  for (const double after_ms : {0.2, 5.0}) {
    BusySlot core;
    core.serve(100, 1);
    core.serve(300, after_ms);
    EXPECT_NEAR(core.expected_ms() / after_ms, 1, 0.1) << after_ms;
  }
}

TEST(WorkRate, AnAnswerNeedsAFifthOfItsTimeToSpare) {
  EXPECT_FALSE(comes_too_late(0, 1));
  EXPECT_FALSE(comes_too_late(79, 100));
  EXPECT_TRUE(comes_too_late(81, 100));
}

TEST(WorkRate, ASearchThatHasTheCoreToItselfMayTry) {
  BusySlot core;
  core.serve(20, 10);
  EXPECT_TRUE(ends_in_time(core.rate, 0, 100, ms(1), core.now));
  EXPECT_FALSE(ends_in_time(core.rate, 100, 100, ms(15), core.now));
  EXPECT_TRUE(ends_in_time(core.rate, 100, 100, ms(25), core.now));
}

TEST(Overload, ALongQueueAloneServesWhatNobodyWaitsForAnyMore) {
  SimulatedLoad load = load_of(10 * kPeak, 4);
  load.admit_by_time = false;
  EXPECT_LT(goodput(simulate(load), load), 0.5 * kPeak);
}

TEST(Overload, KeepsNineTenthsOfThePeakAtTenTimesTheLoad) {
  for (const double times : {1.0, 2.0, 5.0, 10.0}) {
    const SimulatedLoad load = load_of(times * kPeak, 4);
    const SimulatedOutcome outcome = simulate(load);
    EXPECT_GE(goodput(outcome, load), 0.9 * kPeak) << times;
    EXPECT_EQ(outcome.offered, outcome.in_time + outcome.late + outcome.too_late +
                                   outcome.queue_full + outcome.expired)
        << times;
    EXPECT_LE(outcome.late + outcome.expired, outcome.offered / 50) << times;
  }
}

TEST(Overload, RefusesNothingOfALoadThatFits) {
  const SimulatedLoad load = load_of(0.7 * kPeak, 10);
  const SimulatedOutcome outcome = simulate(load);
  EXPECT_EQ(outcome.in_time, outcome.offered);
}

TEST(Overload, SearchesOfVeryDifferentLengths) {
  SimulatedLoad load = load_of(0, 4);
  load.lengths = {12, 992};  // half and half: 510 units on average
  load.rate = 10 * kPeak * 100 / 510;
  const SimulatedOutcome outcome = simulate(load);
  // The work of what was in time: short ones are refused less often, which makes more answers.
  EXPECT_GE(outcome.work_in_time / load.seconds, 0.9 * kPeak * 100);
}

TEST(Overload, ACoreThatBecomesSlowerOrFaster) {
  for (const double factor : {0.25, 4.0}) {
    SimulatedLoad load = load_of(10 * kPeak, 4);
    load.speed = [factor](double seconds) { return seconds < 2 ? 1.0 : factor; };
    const SimulatedOutcome outcome = simulate(load);
    EXPECT_GE(static_cast<double>(outcome.in_time), 0.9 * kPeak * (2 + 2 * factor)) << factor;
  }
}

TEST(Overload, ACoreThatStandsStillForASecond) {
  SimulatedLoad load = load_of(10 * kPeak, 5);
  load.speed = [](double seconds) { return seconds >= 2 && seconds < 3 ? 0.0 : 1.0; };
  EXPECT_GE(static_cast<double>(simulate(load).in_time), 0.9 * kPeak * 4);
}

TEST(Overload, ALoadThatFitsIsServedSoonAfterTheCoreWasAlmostStill) {
  SimulatedLoad load = load_of(0.7 * kPeak, 5);
  load.speed = [](double seconds) { return seconds >= 1 && seconds < 2 ? 0.02 : 1.0; };
  EXPECT_GE(static_cast<double>(simulate(load).in_time), 0.7 * kPeak * 3.8);
}

TEST(Overload, BurstsAfterIdleTimes) {
  SimulatedLoad load = load_of(10 * kPeak, 10);
  load.offered = [](double seconds) { return std::fmod(seconds, 2.0) < 0.5 ? 1.0 : 0.0; };
  EXPECT_GE(static_cast<double>(simulate(load).in_time), 0.9 * kPeak * 5 * 0.5);
}

}  // namespace
}  // namespace farvec::compute_node
