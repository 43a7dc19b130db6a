#include "ssd_baseline/slotted/pool/pool_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/status_error.h"

namespace farvec::slotted::budget {
namespace {

using ::testing::HasSubstr;

/// A pool that keeps some slots, whatever it is asked for, while they are in use.
struct FakePool {
  std::size_t slots = 0;
  std::size_t held = 0;
  std::size_t in_use = 0;

  std::size_t resize(std::size_t asked) {
    slots = asked;
    held = std::max(asked, std::min(held, in_use));
    return held;
  }
};

class PoolBudgetTest : public ::testing::Test {
 protected:
  struct Joined {
    PoolNeeds needs;
    std::unique_ptr<FakePool> pool = std::make_unique<FakePool>();
    std::unique_ptr<PoolBudget::Share> share;
  };

  explicit PoolBudgetTest(std::size_t bytes = 10'000)
      : budget_(std::make_shared<PoolBudget>(bytes)) {}

  Joined& join(const PoolNeeds& needs) {
    Joined joined{.needs = needs, .share = nullptr};
    joined.share = budget_->join(
        needs, [pool = joined.pool.get()](std::size_t slots) { return pool->resize(slots); });
    pools_.push_back(std::move(joined));
    return pools_.back();
  }
  void leave(std::size_t i) {
    pools_[i].share->detach();
    pools_[i].pool.reset();
    pools_.erase(pools_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  /// The sum of what the pools themselves say is within the budget, and what the budget says.
  void expect_within() const {
    std::size_t sum = 0;
    std::size_t cores = 0;
    for (const Joined& joined : pools_) {
      cores = std::max(cores, joined.needs.core_bytes);
      const std::size_t bytes =
          joined.needs.fixed_bytes + joined.pool->held * joined.needs.slot_bytes;
      EXPECT_EQ(joined.share->bytes(), bytes);
      sum += bytes;
    }
    sum += cores;
    EXPECT_LE(sum, budget_->bytes());
    EXPECT_EQ(budget_->used(), sum);
  }

  std::shared_ptr<PoolBudget> budget_;
  std::vector<Joined> pools_;
};

TEST_F(PoolBudgetTest, OnePoolGetsAllThatItCanFill) {
  join({.fixed_bytes = 1000, .slot_bytes = 10, .most_slots = 100'000, .weight = 5});
  EXPECT_EQ(pools_[0].pool->slots, 900u);
  leave(0);
  EXPECT_EQ(budget_->used(), 0u);
  join({.fixed_bytes = 1000, .slot_bytes = 10, .most_slots = 77, .weight = 5});
  EXPECT_EQ(pools_[0].pool->slots, 77u);
}

TEST_F(PoolBudgetTest, PoolsShareByTheBytesOfTheirIndexesWhenOneComesOrGoes) {
  join({.fixed_bytes = 1000, .slot_bytes = 10, .most_slots = 100'000, .weight = 300});
  join({.fixed_bytes = 980, .slot_bytes = 10, .most_slots = 100'000, .weight = 100});
  // 10,000 without 1,980 and a slot of each are 8,000: three quarters and one quarter.
  EXPECT_EQ(pools_[0].pool->slots, 601u);
  EXPECT_EQ(pools_[1].pool->slots, 201u);
  expect_within();
  leave(0);
  EXPECT_EQ(pools_[0].pool->slots, 902u);
  expect_within();
}

TEST_F(PoolBudgetTest, WhatAPoolCannotFillGoesToTheOthers) {
  join({.fixed_bytes = 0, .slot_bytes = 10, .most_slots = 11, .weight = 1000});
  join({.fixed_bytes = 0, .slot_bytes = 10, .most_slots = 100'000, .weight = 1});
  join({.fixed_bytes = 0, .slot_bytes = 10, .most_slots = 100'000, .weight = 3});
  EXPECT_EQ(pools_[0].pool->slots, 11u);
  // 10,000 - 30 - 100 are 9,870.
  EXPECT_EQ(pools_[1].pool->slots, 1 + 246u);
  EXPECT_EQ(pools_[2].pool->slots, 1 + 740u);
  expect_within();
}

TEST_F(PoolBudgetTest, WhatCoresHaveCountsOnceForAllPools) {
  const PoolNeeds small{
      .core_bytes = 5000, .fixed_bytes = 90, .slot_bytes = 10, .most_slots = 100, .weight = 1};
  for (int i = 0; i < 50; ++i) {
    join(small);
    expect_within();
  }
  EXPECT_EQ(budget_->used(), 10'000u) << "5,000 for the cores, 90 and one slot for each pool";
  for (const Joined& joined : pools_) {
    EXPECT_EQ(joined.pool->slots, 1u);
    EXPECT_EQ(joined.share->bytes(), 100u);
  }
  try {
    join(small);
    FAIL() << "it fits";
  } catch (const StatusError& error) {
    EXPECT_THAT(error.what(), HasSubstr("10100 are needed, 5000 for what cores share and 5100"));
  }
  while (pools_.size() > 1) leave(0);
  EXPECT_EQ(pools_[0].pool->slots, 100u);
  EXPECT_EQ(budget_->used(), 5000u + 90 + 1000);
  leave(0);
  EXPECT_EQ(budget_->used(), 0u);
}

TEST_F(PoolBudgetTest, OfWhatCoresHaveTheMostCounts) {
  join({.core_bytes = 2000, .fixed_bytes = 0, .slot_bytes = 10, .most_slots = 9999, .weight = 1});
  EXPECT_EQ(pools_[0].pool->slots, 800u);
  join({.core_bytes = 4000, .fixed_bytes = 0, .slot_bytes = 10, .most_slots = 9999, .weight = 1});
  EXPECT_EQ(pools_[0].pool->slots, 300u);
  EXPECT_EQ(pools_[1].pool->slots, 300u);
  expect_within();
  leave(1);
  EXPECT_EQ(pools_[0].pool->slots, 800u);
  expect_within();
}

TEST_F(PoolBudgetTest, ItSaysWhatIsNeededWhenOnePoolMoreDoesNotFit) {
  join({.fixed_bytes = 6000, .slot_bytes = 10, .most_slots = 100, .weight = 1});
  try {
    join({.fixed_bytes = 4000, .slot_bytes = 10, .most_slots = 100, .weight = 1});
    FAIL() << "it fits";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.code, StatusCode::resource_exhausted);
    EXPECT_THAT(error.what(), HasSubstr("--memory-budget 10020"));
    EXPECT_THAT(error.what(), HasSubstr("2 pools"));
  }
  EXPECT_EQ(pools_[0].pool->slots, 100u) << "nothing has changed for the first";
  join({.fixed_bytes = 3980, .slot_bytes = 10, .most_slots = 100, .weight = 1});
  EXPECT_EQ(pools_[0].pool->slots, 1u);
  EXPECT_EQ(pools_[1].pool->slots, 1u);
  expect_within();
}

TEST(PoolsOfRecords, SayWhatTheyNeedWithoutSearches) {
  const auto budget = std::make_shared<PoolBudget>(1000, PoolBudget::Counts::records_alone);
  FakePool pool;
  const auto resize = [&](std::size_t slots) { return pool.resize(slots); };
  try {
    (void)budget->join({.fixed_bytes = 990, .slot_bytes = 20, .most_slots = 5}, resize);
    ADD_FAILURE() << "there is room for no record";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.code, StatusCode::resource_exhausted);
    EXPECT_THAT(error.what(), HasSubstr("a pool of 1000 bytes is too small"));
    EXPECT_THAT(error.what(), HasSubstr("1010 are needed"));
  }
  const auto share = budget->join({.fixed_bytes = 900, .slot_bytes = 20, .most_slots = 50}, resize);
  EXPECT_EQ(pool.held, 5u);
  EXPECT_EQ(budget->used(), 1000u);
  share->detach();
}

TEST_F(PoolBudgetTest, SlotsThatAreInUseAreGivenUpLater) {
  join({.fixed_bytes = 0, .slot_bytes = 10, .most_slots = 1000, .weight = 1});
  pools_[0].pool->in_use = 900;
  join({.fixed_bytes = 500, .slot_bytes = 10, .most_slots = 1000, .weight = 1});
  EXPECT_EQ(pools_[0].pool->held, 900u);
  EXPECT_EQ(pools_[1].pool->held, 50u) << "what is left";
  expect_within();
  pools_[0].pool->in_use = 0;
  budget_->settle();
  EXPECT_EQ(pools_[0].pool->held, 475u);
  EXPECT_EQ(pools_[1].pool->held, 475u);
  expect_within();
}

TEST_F(PoolBudgetTest, APoolThatFindsNoRoomInTimeIsNotTakenIn) {
  join({.fixed_bytes = 0, .slot_bytes = 10, .most_slots = 1000, .weight = 1});
  pools_[0].pool->in_use = 1000;
  try {
    join({.fixed_bytes = 500, .slot_bytes = 10, .most_slots = 1000, .weight = 1});
    FAIL() << "there is room";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.code, StatusCode::unavailable);
  }
  EXPECT_EQ(pools_[0].pool->slots, 1000u) << "it has all again";
  expect_within();
}

TEST_F(PoolBudgetTest, TheSumNeverExceedsTheBudgetWhateverComesAndGoes) {
  Random random(11);
  for (int i = 0; i < 3000; ++i) {
    if (!pools_.empty() && random.below(2) == 0) {
      leave(random.below(pools_.size()));
    } else {
      const PoolNeeds needs{.core_bytes = random.below(4) * 500,
                            .fixed_bytes = random.below(300),
                            .slot_bytes = 1 + random.below(60),
                            .most_slots = random.below(400),
                            .weight = 1 + random.below(100)};
      try {
        join(needs);
      } catch (const StatusError& error) {
        EXPECT_EQ(error.code, StatusCode::resource_exhausted);
      }
    }
    for (Joined& joined : pools_) joined.pool->in_use = random.below(4);
    if (random.below(3) == 0) budget_->settle();
    expect_within();
    for (const Joined& joined : pools_) {
      EXPECT_GE(joined.pool->slots, std::min<std::size_t>(joined.needs.most_slots, 1));
    }
  }
}

}  // namespace
}  // namespace farvec::slotted::budget
