// Tests of a collection without a log: what segments have stays, and nothing else.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "tests/unit/collection/changing_collection.h"

namespace farvec::collection {
namespace {

CollectionAccess without_log() {
  CollectionAccess access = small_access();
  access.logged = false;
  return access;
}

class CollectionWithoutLog : public ChangingCollection {
 protected:
  CollectionWithoutLog() {
    std::filesystem::remove_all(path());
    Collection::create(path(), small_shape(), layout::as_it_is, 0);
  }
  bool has_log() const { return std::filesystem::exists(path() / layout::kCollectionLogFolder); }
  void forget_from(std::uint64_t first) { rows_.erase(rows_.lower_bound(first), rows_.end()); }
};

TEST_F(CollectionWithoutLog, KeepsWhatSegmentsHaveAndNothingElse) {
  open(without_log());
  EXPECT_FALSE(has_log());
  insert_ids(0, 120);
  EXPECT_TRUE(collection_->flush());
  insert_ids(120, 150);
  expect_same();
  EXPECT_EQ(collection_->state().log_bytes, 0u);
  open(without_log());
  EXPECT_FALSE(has_log());
  forget_from(120);
  expect_same();
  insert_ids(120, 260);
  EXPECT_TRUE(collection_->flush());
  open(without_log());
  expect_same();
}

TEST_F(CollectionWithoutLog, ChangesAsOneWithALogDoes) {
  open(without_log());
  for (int i = 0; i < 60; ++i) {
    if (random_.below(10) == 0) {
      ASSERT_TRUE(collection_->flush());
      open(without_log());
    } else if (random_.below(4) == 0) {
      erase_some();
    } else {
      const std::uint64_t begin = random_.below(300);
      insert_ids(begin, begin + 1 + random_.below(40));
    }
    expect_same();
  }
}

TEST_F(CollectionWithoutLog, WhatWasErasedIsSavedWhenItIsAskedFor) {
  open(without_log());
  insert_ids(0, 100);
  EXPECT_TRUE(collection_->flush());
  collection_->settle();
  erase_ids({3, 50, 77});
  open(without_log());
  EXPECT_EQ(collection_->view()->live(), 100u) << "nobody asked";
  EXPECT_EQ(erase(*collection_, {3, 50, 77}).done, 3u);
  collection_->save_soon();
  collection_->settle();
  open(without_log());
  expect_same();
}

TEST_F(CollectionWithoutLog, RowsInOneStepBecomeASegmentSoon) {
  CollectionAccess access = without_log();
  access.link = true;
  access.most_unlinked = 1;
  open(access);
  const Batch batch = new_rows(0, 30);
  Receipt receipt;
  collection_->insert_unlinked({batch.rows(), batch.ids()}, within(kPatienceUs), receipt);
  EXPECT_EQ(receipt.done, 30u);
  expect_same();
  collection_->freeze_soon();
  collection_->settle();
  EXPECT_EQ(size_of(*collection_->view()).fresh, 0u);
  EXPECT_EQ(collection_->view()->segments.size(), 1u);
  expect_same();
  collection_->freeze_soon();  // there is nothing fresh
  collection_->settle();
  insert_ids(30, 60);
  expect_same();
}

TEST_F(CollectionWithoutLog, ALogThatLiesThereIsRemoved) {
  std::filesystem::remove_all(path());
  Collection::create(path(), small_shape());
  open();
  insert_ids(0, 70);
  EXPECT_TRUE(collection_->flush());
  insert_ids(70, 75);
  EXPECT_TRUE(has_log());
  open(without_log());
  EXPECT_FALSE(has_log());
  forget_from(70);
  expect_same();
}

}  // namespace
}  // namespace farvec::collection
