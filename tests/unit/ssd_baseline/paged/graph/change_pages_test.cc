#include "ssd_baseline/paged/graph/change_pages.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/clock.h"
#include "ssd_baseline/paged/store/local_store.h"

namespace farvec::paged {
namespace {

layout::HnswShape shape_of(std::uint32_t m, std::uint32_t max_level = layout::kHnswMaxLevel) {
  return {.m = m, .max_level = max_level};
}

TEST(ChangePages, AreThoseOfAllNeighboursOnAllLayersThatThereAre) {
  EXPECT_EQ(most_change_pages(shape_of(24)), 6u + 48 + 7 * 24);
  EXPECT_EQ(most_change_pages(shape_of(24, 4)), 6u + 48 + 4 * 24);
  EXPECT_EQ(most_change_pages(shape_of(2)), 6u + 4 + 15 * 2);
  EXPECT_EQ(most_change_pages(shape_of(64)), 6u + 128 + 6 * 64);
  EXPECT_EQ(most_change_pages(shape_of(1024)), 6u + 2048 + 4 * 1024);
  for (const std::uint32_t m : {0u, 1u}) EXPECT_LT(most_change_pages(shape_of(m)), 512u) << m;
}

TEST(ChangePages, NeedFramesThatMayBeDirtyAndSomeThatAreNot) {
  EXPECT_EQ(least_frames_for_changes(220), 220u + 16);
  EXPECT_EQ(least_frames_for_changes(20), kMinFrames);
  EXPECT_EQ(frames_for_changes(220, 8), 8u * 220 + 32);
}

TEST(PinBudget, HasRoomForOneOfAnySizeAndForAsManyAsThereAreFrames) {
  coroutines::Scheduler scheduler({.max_fibers = 3});
  PinBudget budget(80);  // of which 70 are for changes
  std::vector<int> order;
  const auto change = [&](int number, std::size_t pages) {
    ASSERT_TRUE(scheduler
                    .spawn([&, number, pages] {
                      ASSERT_TRUE(
                          budget.take(pages, now_ticks() + us_to_ticks(60e6), scheduler).ok());
                      order.push_back(number);
                      scheduler.suspend_until(now_ticks() + us_to_ticks(1000));
                      order.push_back(-number);
                      budget.give_back(pages);
                    })
                    .ok());
  };
  change(1, 60);
  change(2, 10);
  change(3, 500);
  scheduler.run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, -1, -2, 3, -3}));
}

TEST(PinBudget, ServesThoseThatWaitInTheOrderInWhichTheyCame) {
  coroutines::Scheduler scheduler({.max_fibers = 32});
  PinBudget budget(80);  // of which 70 are for changes
  std::vector<std::size_t> order;
  const auto change = [&](std::size_t pages) {
    ASSERT_TRUE(scheduler
                    .spawn([&, pages] {
                      ASSERT_TRUE(
                          budget.take(pages, now_ticks() + us_to_ticks(60e6), scheduler).ok());
                      order.push_back(pages);
                      scheduler.suspend_until(now_ticks() + us_to_ticks(200));
                      budget.give_back(pages);
                    })
                    .ok());
  };
  // Small ones that come after the large one would have room before it has.
  change(30);
  change(65);
  for (std::size_t pages = 1; pages <= 10; ++pages) change(pages);
  scheduler.run();
  ASSERT_EQ(order.size(), 12u);
  EXPECT_EQ(order[0], 30u);
  EXPECT_EQ(order[1], 65u);
}

TEST(PinBudget, LetsOthersPassWhenALargeOneHasWaitedForTooLong) {
  coroutines::Scheduler scheduler({.max_fibers = 2});
  PinBudget budget(80);
  budget.take_more(60);
  std::vector<StatusCode> ends(2);
  const auto change = [&](std::size_t number, std::size_t pages, double limit_us) {
    ASSERT_TRUE(scheduler
                    .spawn([&, number, pages, limit_us] {
                      const Ticks deadline = now_ticks() + us_to_ticks(limit_us);
                      ends[number] = budget.take(pages, deadline, scheduler).code();
                    })
                    .ok());
  };
  change(0, 20, 500);
  change(1, 10, 60e6);
  scheduler.run();
  EXPECT_EQ(ends, (std::vector{StatusCode::deadline_exceeded, StatusCode::ok}));
}

TEST(PinBudget, WaitsNoLongerThanTheDeadline) {
  coroutines::Scheduler scheduler({.max_fibers = 1});
  PinBudget budget(80);
  budget.take_more(80);
  Status status;
  ASSERT_TRUE(
      scheduler.spawn([&] { status = budget.take(1, now_ticks() + us_to_ticks(500), scheduler); })
          .ok());
  scheduler.run();
  EXPECT_EQ(status.code(), StatusCode::deadline_exceeded);
}

}  // namespace
}  // namespace farvec::paged
