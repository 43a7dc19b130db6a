// Merges beside everything else: they hold up nobody, lose nothing of what changes meanwhile, and
// end at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/error.h"
#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/collection/comes.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

class CollectionMerges : public ChangingCollection {
 protected:
  /// Merges that stand still at the first byte that they have read.
  static CollectionAccess standing() {
    CollectionAccess access = small_access();
    access.merge_bytes_per_s = 1;
    return access;
  }
  BuildProgress merge() const { return collection_->state().merge; }
  std::uint64_t built() const { return collection_->state().built; }

  /// Three segments of 50 rows, and a merge of them.
  void begin_merge(const CollectionAccess& access) {
    open(access);
    insert_ids(0, 150);
    collection_->flush();
    ASSERT_TRUE(comes([&] { return merge().phase == BuildPhase::reading; }));
  }
};

TEST_F(CollectionMerges, WhileOneRunsMemtablesBecomeSegments) {
  begin_merge(standing());
  EXPECT_EQ(merge().segments, 3u);
  EXPECT_EQ(merge().rows, 150u);
  EXPECT_EQ(merge().linked, 0u);
  // More than the memtables that may wait: each of them is acknowledged.
  for (std::uint64_t id = 150; id < 650; id += 50) insert_ids(id, id + 50);
  EXPECT_TRUE(collection_->flush([] { return false; })) << "a flush waits for no merge";
  EXPECT_GE(built(), 13u);
  EXPECT_EQ(merge().phase, BuildPhase::reading);
  EXPECT_EQ(collection_->state().merged, 0u);
  expect_same();
  erase_ids({0, 1, 2, 149, 160});
  insert_ids(100, 110);  // in place of others that are being merged
  expect_same();
  EXPECT_FALSE(collection_->compact([] { return true; }));
}

TEST_F(CollectionMerges, OneThatStandsStillEndsWithTheCollectionAndIsMadeByTheNext) {
  begin_merge(standing());
  erase_ids({3, 77});
  insert_ids(140, 160);
  collection_.reset();
  open();
  collection_->settle();
  EXPECT_GT(collection_->state().merged, 0u);
  EXPECT_EQ(merge().phase, BuildPhase::none);
  EXPECT_EQ(merge().segments, 0u);
  EXPECT_GT(merge().bytes, 0u);
  expect_same();
  open();
  expect_same();
}

TEST_F(CollectionMerges, OfASetThatIsSearchedEndAtOnceAsWell) {
  CollectionAccess access = standing();
  access.link = true;
  begin_merge(access);
  collection_.reset();
  open();
  expect_same();
}

TEST_F(CollectionMerges, TakeIntoAccountWhatChangesMeanwhile) {
  CollectionAccess access = small_access();
  access.merge_bytes_per_s = 150e3;  // most of the time one is under way
  access.link = true;
  open(access);
  int changed = 0;
  std::uint64_t built_beside = 0;
  for (int step = 0; step < 80; ++step) {
    const std::uint64_t merged = collection_->state().merged;
    const std::uint64_t before = built();
    const bool merging = merge().phase != BuildPhase::none;
    const std::uint64_t begin = random_.below(300);
    switch (random_.below(6)) {
      case 0:
      case 1:
        erase_some();
        break;
      case 2:
        collection_->flush();
        break;
      default:
        insert_ids(begin, begin + 1 + random_.below(40));
    }
    if (merging && collection_->state().merged == merged) {
      ++changed;
      built_beside += built() - before;
    }
    if (step % 10 == 0) expect_same();
  }
  EXPECT_GT(changed, 0);
  EXPECT_GT(built_beside, 0u);
  collection_->compact();
  EXPECT_GT(collection_->state().merged, 0u);
  EXPECT_EQ(collection_->view()->segments.size(), 1u);
  expect_same();
  open();
  expect_same();
}

/// The manifest that one of them writes has what the other has done, too.
TEST_F(CollectionMerges, BothSaveWhatThereIs) {
  CollectionAccess access = small_access();
  access.merge_bytes_per_s = 400e3;
  for (int life = 0; life < 3; ++life) {
    open(access);
    for (std::uint64_t id = 0; id < 200; id += 25) {
      insert_ids(id, id + 25);
      if (id % 75 == 0) collection_->flush();
    }
    erase_some();
    if (life % 2 == 0) collection_->settle();
    expect_same();
  }
}

TEST_F(CollectionMerges, LoadingASegmentEndsWhenItIsToldTo) {
  open();
  insert_ids(0, 50);
  collection_->flush();
  const Segment& segment = *collection_->view()->segments.front().segment;
  EXPECT_EQ(tests::message_of(
                [&] { segment.records().load([](std::uint64_t) { throw Error("enough"); }); }),
            "enough");
  std::atomic<std::uint64_t> bytes{0};
  segment.records().load([&bytes](std::uint64_t more) { bytes += more; });
  EXPECT_GT(bytes, 50 * kSmallDimension * sizeof(float));
  expect_same();
}

/// Each of the small ones leaves too few rows that are linked for it, or too little room.
TEST_F(CollectionMerges, ALargeBatchGoesInThoughSmallOnesKeepComing) {
  CollectionAccess access = small_access();
  access.link = true;
  access.most_unlinked = 8;
  open(access);
  std::atomic<bool> enough{false};
  std::vector<std::thread> others;
  std::vector<std::vector<Batch>> small(3);
  for (std::uint64_t i = 0; i < 3'000; ++i) small[i % 3].push_back(new_rows(i, i + 1));
  std::vector<std::size_t> inserted(3);
  for (std::size_t w = 0; w < 3; ++w) {
    others.emplace_back([&, w] {
      for (; !enough && inserted[w] < small[w].size(); ++inserted[w]) {
        (void)insert(*collection_, small[w][inserted[w]]);
      }
    });
  }
  for (std::uint64_t id = 10'000; id < 10'250; id += 50) insert_ids(id, id + 50);
  enough = true;
  for (std::thread& other : others) other.join();
  for (std::size_t w = 0; w < 3; ++w) {
    for (std::size_t b = inserted[w]; b < small[w].size(); ++b) rows_.erase(small[w][b].ids()[0]);
  }
  expect_same();
}

}  // namespace
}  // namespace farvec::collection
