#include "ssd_baseline/slotted/pool/page_pool.h"

#include <gtest/gtest.h>

#include "tests/unit/ssd_baseline/slotted/pool_test_base.h"

namespace farvec::slotted {
namespace {

using testing::FakeCodec;
using testing::is_record;

class PagePoolTest : public testing::PoolTestBase<PagePool<FakeCodec>> {
 protected:
  PagePoolTest()
      : PoolTestBase({.frames = 3,
                      .page_bytes = testing::kPageBytes,
                      .pages = kRecords / testing::kPerPage}) {}

  SlotClaim bring(std::uint32_t number, std::uint32_t steps = kSteps) {
    const SlotClaim claim = pool_.claim(first(number), number, steps);
    if (claim.outcome != Outcome::claimed) return claim;
    std::byte bytes[testing::kPageBytes];
    FakeCodec::write(number, bytes);
    pool_.fill(claim.slot, first(number), {bytes, number});
    return claim;
  }
  static NodeId first(std::uint32_t page) { return page * testing::kPerPage; }
  bool resident(std::uint32_t page) { return pool_.place(first(page)).state == State::resident; }
};

TEST_F(PagePoolTest, KeepsAllRecordsOfAPage) {
  bring(2);
  for (NodeId id : {8u, 9u, 10u, 11u}) EXPECT_TRUE(touch(id));
  EXPECT_FALSE(touch(12));
  EXPECT_EQ(pool_.place(12).page, 3u);
}

TEST_F(PagePoolTest, EvictsTheLeastRecentlyUsed) {
  for (std::uint32_t page : {0u, 1u, 2u}) EXPECT_FALSE(bring(page).evicted);
  EXPECT_TRUE(touch(first(0) + 3));
  EXPECT_TRUE(bring(5).evicted);
  EXPECT_FALSE(resident(1));
  EXPECT_TRUE(resident(0));
  EXPECT_TRUE(touch(first(2)));
  bring(6);
  EXPECT_FALSE(resident(0));
  EXPECT_TRUE(resident(2) && resident(5) && resident(6));
}

TEST_F(PagePoolTest, LoadsAPageOnceAndReleasesWhatFailed) {
  const SlotClaim claim = pool_.claim(0, 0, kSteps);
  ASSERT_EQ(claim.outcome, Outcome::claimed);
  EXPECT_EQ(pool_.claim(1, 0, kSteps).outcome, Outcome::taken);
  EXPECT_EQ(pool_.place(3).state, State::loading);
  EXPECT_FALSE(touch(3));
  pool_.release(claim.slot);
  EXPECT_EQ(pool_.place(3).state, State::absent);
  EXPECT_FALSE(bring(1).evicted);
  EXPECT_FALSE(bring(2).evicted);
  EXPECT_FALSE(bring(3).evicted) << "the released frame is used again";
}

TEST_F(PagePoolTest, DoesNotEvictWhatIsReadOrOnItsWay) {
  ASSERT_EQ(pool_.claim(first(0), 0, kSteps).outcome, Outcome::claimed);
  ASSERT_EQ(pool_.claim(first(1), 1, kSteps).outcome, Outcome::claimed);
  bring(2);
  Status status;
  pool_.read(
      first(2),
      [&](std::span<const std::byte> record) {
        EXPECT_EQ(bring(3).outcome, Outcome::none);
        EXPECT_TRUE(is_record(first(2), record));
        return Status();
      },
      status);
  EXPECT_EQ(bring(3, 0).outcome, Outcome::none) << "it may look at none";
  EXPECT_EQ(bring(3).outcome, Outcome::claimed);
}

}  // namespace
}  // namespace farvec::slotted
