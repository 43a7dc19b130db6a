#include "ssd_baseline/paged/graph/change_pages.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/clock.h"

namespace farvec::paged {
namespace {

layout::HnswShape shape_of(std::uint32_t m, std::uint32_t max_level = layout::kHnswMaxLevel) {
  return {.m = m, .max_level = max_level};
}

TEST(ChangePages, AreThoseOfAllNeighboursOnAllLayersThatThereAre) {
  EXPECT_EQ(most_change_pages(shape_of(24), 200), 4u + 48 + 7 * 24);
  EXPECT_EQ(most_change_pages(shape_of(24, 4), 200), 4u + 48 + 4 * 24);
  EXPECT_EQ(most_change_pages(shape_of(2), 200), 4u + 4 + 15 * 2);
  EXPECT_EQ(most_change_pages(shape_of(24), 10), 4u + 8 * 10);
  EXPECT_EQ(most_change_pages(shape_of(1024), 200), 4u + 200 + 4 * 200);
  for (const std::uint32_t m : {0u, 1u}) EXPECT_LT(most_change_pages(shape_of(m), 200), 512u) << m;
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
