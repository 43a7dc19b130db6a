#include "ssd_baseline/slotted/pool/record_pool.h"

#include <gtest/gtest.h>

#include "tests/unit/ssd_baseline/slotted/pool_test_base.h"

namespace farvec::slotted {
namespace {

using testing::FakeCodec;
using testing::is_record;

class RecordPoolTest : public testing::PoolTestBase<RecordPool<FakeCodec>> {
 protected:
  RecordPoolTest() : PoolTestBase({.slots = 4, .max_record_bytes = testing::kRecordBytes}) {}

  /// As a reader brings it. The outcome of the claim.
  SlotClaim bring(NodeId id, std::uint32_t steps = kSteps) {
    const SlotClaim claim = pool_.claim(id, page_of(id), steps);
    if (claim.outcome == Outcome::claimed) pool_.fill(claim.slot, id, page(page_of(id)));
    return claim;
  }
  static std::uint32_t page_of(NodeId id) { return id / testing::kPerPage; }
  FakeCodec::Page page(std::uint32_t number) {
    FakeCodec::write(number, bytes_);
    return {bytes_, number};
  }
  bool resident(NodeId id) { return pool_.place(id).state == State::resident; }

  std::byte bytes_[testing::kPageBytes];
};

TEST_F(RecordPoolTest, HasTheSlotsThatItsBytesSay) {
  EXPECT_EQ(RecordPool<FakeCodec>::slot_bytes(48), 64u);
  EXPECT_EQ(RecordPool<FakeCodec>::slot_bytes(49), 80u);
  EXPECT_EQ(pool_.dram_bytes(), 4 * 64u);
}

TEST_F(RecordPoolTest, KeepsARecordFromItsClaimToItsEviction) {
  EXPECT_EQ(pool_.place(9).state, State::absent);
  EXPECT_EQ(pool_.place(9).page, 2u);
  EXPECT_FALSE(touch(9));
  const SlotClaim claim = pool_.claim(9, 2, kSteps);
  ASSERT_EQ(claim.outcome, Outcome::claimed);
  EXPECT_FALSE(claim.evicted);
  EXPECT_EQ(pool_.place(9).state, State::loading);
  EXPECT_EQ(pool_.place(9).page, kNoPage) << "who brings it knows";
  EXPECT_FALSE(touch(9));
  EXPECT_EQ(pool_.claim(9, 2, kSteps).outcome, Outcome::taken);
  pool_.fill(claim.slot, 9, page(2));
  EXPECT_TRUE(resident(9));
  EXPECT_TRUE(touch(9));
}

TEST_F(RecordPoolTest, EvictsInTheOrderOfTheHandAndRestoresThePage) {
  for (NodeId id : {10u, 20u, 30u, 40u}) EXPECT_FALSE(bring(id).evicted);
  // The hand marks all four on its way around and takes the first that it meets again.
  for (NodeId id : {50u, 51u, 52u, 53u}) {
    EXPECT_TRUE(bring(id).evicted);
    EXPECT_TRUE(resident(id));
  }
  for (NodeId id : {10u, 20u, 30u, 40u}) {
    EXPECT_EQ(pool_.place(id).state, State::absent);
    EXPECT_EQ(pool_.place(id).page, page_of(id));
  }
}

TEST_F(RecordPoolTest, GivesUpSlotsAndGetsThemBack) {
  for (NodeId id : {10u, 20u, 30u, 40u}) bring(id);
  EXPECT_EQ(pool_.resize(1), 1u);
  EXPECT_EQ(pool_.slots(), 1u);
  EXPECT_EQ(pool_.dram_bytes(), 64u);
  EXPECT_TRUE(touch(10));
  for (NodeId id : {20u, 30u, 40u}) {
    EXPECT_FALSE(touch(id));
    EXPECT_EQ(pool_.place(id).state, State::absent);
    EXPECT_EQ(pool_.place(id).page, page_of(id)) << "it is found on the disk again";
  }
  for (NodeId id : {50u, 54u, 58u}) {
    EXPECT_EQ(bring(id, 8).outcome, Outcome::claimed);
    EXPECT_TRUE(touch(id));
  }
  EXPECT_FALSE(resident(50));
  EXPECT_EQ(pool_.resize(0), 0u);
  EXPECT_EQ(bring(50, 8).outcome, Outcome::none);
  EXPECT_EQ(pool_.resize(4), 4u);
  for (NodeId id : {10u, 20u, 30u, 40u}) EXPECT_EQ(bring(id).outcome, Outcome::claimed);
  for (NodeId id : {10u, 20u, 30u, 40u}) EXPECT_TRUE(touch(id));
}

TEST_F(RecordPoolTest, ASlotThatWaitsForItsRecordIsGivenUpLater) {
  for (NodeId id : {10u, 20u}) bring(id);
  const SlotClaim claim = pool_.claim(30, page_of(30), kSteps);
  ASSERT_EQ(claim.outcome, Outcome::claimed);
  EXPECT_EQ(pool_.resize(1), 3u) << "the last one is free, this one is not";
  EXPECT_EQ(pool_.slots(), 1u);
  pool_.fill(claim.slot, 30, page(page_of(30)));
  EXPECT_TRUE(touch(30));
  EXPECT_EQ(pool_.resize(1), 1u);
  EXPECT_FALSE(touch(30));
  EXPECT_TRUE(touch(10));
}

TEST_F(RecordPoolTest, GivesARecordThatWasAskedForASecondChance) {
  for (NodeId id : {10u, 20u, 30u, 40u}) bring(id);
  bring(50);  // took the place of 10; 20, 30 and 40 are marked
  EXPECT_TRUE(touch(20));
  EXPECT_TRUE(touch(30));
  bring(60);
  EXPECT_TRUE(resident(20));
  EXPECT_TRUE(resident(30));
  EXPECT_FALSE(resident(40)) << "the only one that nobody asked for";
}

TEST_F(RecordPoolTest, LooksAtNoMoreSlotsThanItMay) {
  for (NodeId id : {10u, 20u, 30u, 40u}) bring(id);
  EXPECT_EQ(bring(50, 4).outcome, Outcome::none) << "all were occupied, and are marked now";
  EXPECT_EQ(bring(50, 1).outcome, Outcome::claimed);
  EXPECT_EQ(bring(51, 0).outcome, Outcome::none);
}

TEST_F(RecordPoolTest, DoesNotEvictWhatIsLockedOrPinned) {
  for (NodeId id : {10u, 20u, 30u}) ASSERT_EQ(pool_.claim(id, page_of(id), 9).slot, id / 10 - 1);
  bring(40);
  Status status;
  EXPECT_TRUE(pool_.read(
      40,
      [&](std::span<const std::byte> record) {
        EXPECT_EQ(bring(50).outcome, Outcome::none) << "three are locked, one is being read";
        EXPECT_TRUE(is_record(40, record));
        return Status(StatusCode::internal, "what the visitor says");
      },
      status));
  EXPECT_EQ(status.code(), StatusCode::internal);
  EXPECT_EQ(bring(50).outcome, Outcome::claimed);
}

TEST_F(RecordPoolTest, ReleasedSlotsAreFreeAndTheirRecordsAbsent) {
  const SlotClaim claim = pool_.claim(10, 2, kSteps);
  pool_.release(claim.slot);
  EXPECT_EQ(pool_.place(10).state, State::absent);
  EXPECT_EQ(pool_.place(10).page, 2u);
  for (NodeId id : {11u, 20u, 30u, 40u}) EXPECT_FALSE(bring(id).evicted);
}

TEST_F(RecordPoolTest, APageWithoutTheRecordReleasesItsSlot) {
  const SlotClaim claim = pool_.claim(10, 2, kSteps);
  pool_.fill(claim.slot, 10, page(3));
  EXPECT_EQ(pool_.place(10).state, State::absent);
  EXPECT_EQ(bring(11).slot, 1u);
}

TEST_F(RecordPoolTest, TakesAffineRecordsAlongAndEvictsThemFirst) {
  for (NodeId other : {20u, 30u, 40u, 50u}) bring(other);
  const NodeId id = 4;  // page 1: 4 and 5 are affine
  bring(id);            // in slot 0; the others are marked
  const auto [kept, evicted] = pool_.take_along(id, 1, page(1));
  EXPECT_EQ(kept, 1u);
  EXPECT_EQ(evicted, 1u);
  EXPECT_TRUE(resident(5));
  EXPECT_FALSE(resident(6));
  EXPECT_EQ(pool_.take_along(id, 1, page(1)).first, 0u) << "it is there";
  for (NodeId other : {12u, 24u, 36u}) bring(other);
  EXPECT_FALSE(resident(5)) << "nobody has asked for it";
  EXPECT_TRUE(resident(id));
}

TEST_F(RecordPoolTest, KeepsWholePagesUntilEverySlotWasUsed) {
  bring(6);
  const auto [kept, evicted] = pool_.take_along(6, 1, page(1));
  EXPECT_EQ(kept, 3u);
  EXPECT_EQ(evicted, 0u);
  for (const NodeId id : {4u, 5u, 6u, 7u}) EXPECT_TRUE(resident(id));
  bring(16);
  EXPECT_EQ(pool_.take_along(16, 4, page(4)).first, 0u);
  EXPECT_TRUE(resident(6)) << "it was asked for";
}

TEST_F(RecordPoolTest, ASinglePoolTakesNothingAlong) {
  RecordPool<FakeCodec> single(
      {}, map_, {.slots = 4, .max_record_bytes = testing::kRecordBytes, .along = false});
  const SlotClaim claim = single.claim(4, 1, kSteps);
  single.fill(claim.slot, 4, page(1));
  EXPECT_EQ(single.take_along(4, 1, page(1)), std::pair(0u, 0u));
  EXPECT_EQ(single.place(4).state, State::resident);
  for (const NodeId other : {5u, 6u, 7u}) EXPECT_EQ(single.place(other).state, State::absent);
}

TEST_F(RecordPoolTest, APoolWithoutSlotsHasNone) {
  RecordPool<FakeCodec> none({}, map_, {.slots = 0, .max_record_bytes = 10});
  EXPECT_EQ(none.claim(1, 0, kSteps).outcome, Outcome::none);
}

}  // namespace
}  // namespace farvec::slotted
