// A disk that is full while segments, rows that are out, or the manifest are written.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/full_disk.h"
#include "collection/read/collection_reader.h"
#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/file_size_limit.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

class CollectionOnAFullDisk : public ChangingCollection {
 protected:
  std::ptrdiff_t names_in_segments() const {
    return std::distance(std::filesystem::directory_iterator(segments()), {});
  }
};

/// From no byte at all to what all but the last file fit. The limit is the log's too, so nothing
/// may be left to be written there: segments that were built before it are in the manifest.
TEST_F(CollectionOnAFullDisk, NothingIsLostAndWhatFailedIsMadeLater) {
  for (const rlim_t bytes : {0, 100, 700, 2000, 5000, 9000}) {
    open();
    insert_ids(0, 20 + random_.below(60));
    collection_->settle();
    erase_some();
    insert_ids(100, 149);
    collection_->settle();
    {
      const tests::FileSizeLimit full(bytes);
      const std::string said = tests::message_of([&] {
        EXPECT_THROW(collection_->compact(), FullDisk);
        collection_->compact();
      });
      EXPECT_NE(said.find(path().string()), std::string::npos) << said;
      EXPECT_FALSE(collection_->state().failure.empty());
      expect_same();
      erase_some();
      expect_same();
    }
    collection_->compact();
    EXPECT_TRUE(collection_->state().failure.empty());
    expect_same();
    // The background may hold what was replaced for a moment more.
    EXPECT_TRUE(comes([&] { return names_in_segments() == 1; })) << bytes;
    open();
    expect_same();
  }
}

TEST_F(CollectionOnAFullDisk, WhatLiesThereOpensAtAnyMoment) {
  CollectionAccess access = small_access();
  access.durability = wal::Durability::commit;
  for (const rlim_t bytes : {0, 700, 2000, 5000, 9000}) {
    open(access);
    insert_ids(0, 20 + random_.below(60));
    erase_some();
    {
      const tests::FileSizeLimit full(bytes);
      (void)tests::message_of([&] { collection_->flush(); });  // a small segment may fit
      collection_.reset();
      CollectionReader reader(path(), small_segments());
      expect_holds(reader.view(), rows_, random_);
    }
    open(access);
    expect_same();
  }
}

/// What is tried by whom: a client of a node hears the same reason.
TEST_F(CollectionOnAFullDisk, WhoInsertsHearsWhatFails) {
  CollectionAccess access = small_access();
  access.most_frozen = 1;
  open(access);
  const std::filesystem::path away = path() / "away";
  std::filesystem::rename(segments(), away);
  const Batch batch = new_rows(0, 400);
  std::string reason;
  // The attempt to build a segment comes a moment after the rows.
  EXPECT_TRUE(comes([&] {
    Receipt receipt;
    try {
      collection_->insert({batch.rows(), batch.ids()}, within(200e3), receipt);
    } catch (const changes::Refusal& refusal) {
      EXPECT_EQ(refusal.code, StatusCode::resource_exhausted);
      reason = refusal.reason;
    }
    EXPECT_LT(receipt.done, 400u);
    return reason.find(segments().string()) != std::string::npos;
  })) << reason;
  EXPECT_NE(reason.find("No such file"), std::string::npos) << reason;
  std::filesystem::rename(away, segments());
  collection_->flush();
  EXPECT_EQ(insert(*collection_, batch).done, 400u);
  expect_same();
}

TEST_F(CollectionOnAFullDisk, WhyNoSegmentIsBuiltIsSaidUntilOneIs) {
  open();
  insert_ids(0, 45);
  std::filesystem::rename(segments(), path() / "away");
  EXPECT_NE(tests::message_of([&] { collection_->flush(); }), "");
  EXPECT_NE(collection_->build_failure().find(segments().string()), std::string::npos)
      << collection_->build_failure();
  EXPECT_FALSE(collection_->build_lacks_disk());
  std::filesystem::rename(path() / "away", segments());
  {
    const tests::FileSizeLimit full(100);
    EXPECT_THROW(collection_->flush(), FullDisk);
    EXPECT_TRUE(collection_->build_lacks_disk());
  }
  collection_->flush();
  EXPECT_EQ(collection_->build_failure(), "");
  EXPECT_FALSE(collection_->build_lacks_disk());
}

TEST_F(CollectionOnAFullDisk, DeletesGoInWhereTheLogHasNoRoomForAWholeSegment) {
  CollectionAccess access = small_access();
  access.durability = wal::Durability::commit;
  open(access);
  insert_ids(0, 80);
  collection_.reset();
  {
    const tests::FileSizeLimit full(1 << 20);
    open(access);
    erase_some();
    expect_same();
  }
  open(access);
  expect_same();
}

/// A folder at the manifest's name: all that it would name is written, and it is not.
TEST_F(CollectionOnAFullDisk, WhatNoManifestNamedGoesWithTheNextOne) {
  CollectionAccess access = small_access();
  access.merge = false;
  open(access);
  const std::filesystem::path manifest = path() / layout::kCollectionFile;
  const std::filesystem::path away = path() / "away";
  for (int round = 0; round < 3; ++round) {
    insert_ids(0, 80);
    erase_some();
    std::filesystem::rename(manifest, away);
    std::filesystem::create_directory(manifest);
    EXPECT_NE(tests::message_of([&] { collection_->flush(); }), "");
    erase_some();
    insert_ids(60, 130);
    expect_same();
    std::filesystem::remove(manifest);
    std::filesystem::rename(away, manifest);
    collection_->compact();
    expect_same();
    EXPECT_TRUE(comes([&] { return names_in_segments() == 1; })) << round;
    open(access);
    expect_same();
  }
}

TEST_F(CollectionOnAFullDisk, AnImportWhoseManifestFailsIsInWithTheNextOne) {
  open();
  insert_ids(0, 30);
  const std::filesystem::path manifest = path() / layout::kCollectionFile;
  collection_->flush();
  std::filesystem::rename(manifest, path() / "away");
  std::filesystem::create_directory(manifest);
  const Batch batch = new_rows(20, 90);
  EXPECT_THROW((void)collection_->import({batch.rows(), batch.ids()}), Error);
  expect_same();
  erase_ids({25, 26});
  insert_ids(85, 95);
  erase_ids({3, 88});
  std::filesystem::remove(manifest);
  std::filesystem::rename(path() / "away", manifest);
  collection_->settle();
  expect_same();
  open();
  expect_same();
}

TEST_F(CollectionOnAFullDisk, AnImportThatFailsLeavesNothing) {
  open();
  insert_ids(0, 30);
  erase_ids({3});
  collection_->flush();
  Batch batch;
  for (std::uint64_t id = 20; id < 90; ++id) batch.add(id, random_row(random_));
  for (const rlim_t bytes : {0, 100, 700, 2000, 5000}) {
    const tests::FileSizeLimit full(bytes);
    EXPECT_THROW((void)collection_->import({batch.rows(), batch.ids()}), Error) << bytes;
  }
  expect_same();
  EXPECT_EQ(names_in_segments(), 1);
  insert_ids(25, 35);
  expect_same();
  open();
  expect_same();
}

}  // namespace
}  // namespace farvec::collection
