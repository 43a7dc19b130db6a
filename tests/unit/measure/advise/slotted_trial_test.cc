#include "measure/advise/slotted_trial.h"

#include <gtest/gtest.h>

namespace farvec::measure {
namespace {

/// A plan for 1,000 records of 100 bytes, all of which fit.
slotted::MemoryPlan sample_plan() {
  return {.codes = 64'000,
          .entries = 2'000,
          .map = 4'000,
          .table = 0,
          .buffers = 30'000,
          .searches = 20'000,
          .pool = 100'000,
          .slots = 1'000};
}
constexpr std::uint64_t kIndexBytes = 200'000;

TEST(SharePool, GivesTheSamplesPoolTheShareOfTheWholes) {
  // The whole has ten times the rows: 2,000,000 bytes, of which half; 700,000 for codes, entries
  // and map, 50,000 for buffers and searches, and 250,000 of 1,000,000 are left to the pool.
  const PoolShare share = share_pool(sample_plan(), kIndexBytes, 10, 50);
  EXPECT_EQ(share.whole_bytes, 1'000'000u);
  EXPECT_EQ(share.sample_budget, 120'000u + 25'000u);
}

TEST(SharePool, TakesNoMoreThanAllRecords) {
  const PoolShare share = share_pool(sample_plan(), kIndexBytes, 10, 100);
  EXPECT_EQ(share.whole_bytes, 700'000u + 50'000u + 1'000'000u);
  EXPECT_EQ(share.sample_budget, sample_plan().total());
}

TEST(SharePool, HasNoneWhereNoRecordFits) {
  EXPECT_EQ(share_pool(sample_plan(), kIndexBytes, 10, 37).sample_budget, std::nullopt);
  EXPECT_EQ(share_pool(sample_plan(), kIndexBytes, 10, 38).sample_budget, 120'000u + 1'000u);
  // What does not grow is dear to a small index.
  EXPECT_EQ(share_pool(sample_plan(), kIndexBytes, 1, 50).sample_budget, std::nullopt);
}

}  // namespace
}  // namespace farvec::measure
