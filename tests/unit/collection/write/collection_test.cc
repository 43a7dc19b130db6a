#include "collection/write/collection.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "changes/batches.h"
#include "collection/read/collection_reader.h"
#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

using CollectionTest = ChangingCollection;

TEST_F(CollectionTest, IsEmptyAtFirst) {
  open();
  expect_same();
  EXPECT_EQ(search_view(collection_->view(), random_row(random_), 5).ids.size(), 0u);
  collection_->flush();
  collection_->compact();
  EXPECT_TRUE(collection_->view()->segments.empty());
}

TEST_F(CollectionTest, HoldsWhatWasInsertedAndNotErased) {
  open();
  insert_ids(0, 1);
  expect_same();
  insert_ids(1, 30);
  insert_ids(10, 20);
  erase_ids({0, 5, 29, 1000});
  expect_same();
  insert_ids(5, 6);
  expect_same();
}

/// Calls of more rows than half a memtable would leave each memtable nearly half empty.
TEST_F(CollectionTest, BatchesFillMemtables) {
  CollectionAccess access = small_access();
  access.merge = false;
  open(access);
  const std::size_t memtable = collection_->shape().options.memtable_rows;
  const std::size_t call = memtable * 5 / 8;
  for (std::uint64_t id = 0; id < 8 * memtable; id += call) {
    const Batch batch = new_rows(id, id + call);
    Receipt receipt;
    changes::insert_all(*collection_, {batch.rows(), batch.ids()}, {}, receipt);
    EXPECT_EQ(receipt.done, call);
  }
  expect_same();
  collection_->flush();
  const ViewPointer view = collection_->view();
  ASSERT_GT(view->segments.size(), 7u);
  for (std::size_t s = 0; s + 1 < view->segments.size(); ++s) {
    EXPECT_GT(view->segments[s].segment->rows(), memtable * 7 / 8) << s;
  }
}

TEST_F(CollectionTest, FlushAndCompactChangeNoAnswer) {
  open();
  insert_ids(0, 220);
  expect_same();
  collection_->flush();
  EXPECT_EQ(size_of(*collection_->view()).fresh, 0u);
  expect_same();
  erase_ids({1, 2, 3, 100, 219});
  insert_ids(50, 60);
  expect_same();
  collection_->compact();
  EXPECT_EQ(collection_->view()->segments.size(), 1u);
  EXPECT_EQ(size_of(*collection_->view()).out, 0u);
  expect_same();
  std::vector<std::uint64_t> all(220);
  std::iota(all.begin(), all.end(), 0);
  erase_ids(all);
  expect_same();
  collection_->compact();
  EXPECT_TRUE(collection_->view()->segments.empty());
}

TEST_F(CollectionTest, OpensWithWhatItHad) {
  open();
  insert_ids(0, 130);
  erase_ids({3, 77});
  open();
  expect_same();
  EXPECT_GT(collection_->recovery().changes, 0u);
  collection_->flush();
  collection_->settle();
  erase_ids({4, 78});
  insert_ids(200, 210);
  open();
  expect_same();
  EXPECT_EQ(collection_->recovery().changes, 12u);
}

TEST_F(CollectionTest, RandomChangesLeaveWhatTheyShould) {
  open();
  for (int step = 0; step < 120; ++step) {
    change_somehow();
    ASSERT_NO_FATAL_FAILURE(expect_same()) << "step " << step;
  }
}

TEST_F(CollectionTest, ASearchSeesItsViewWhateverComesLater) {
  open();
  insert_ids(0, 120);
  const ViewPointer before = collection_->view();
  const Rows rows = rows_;
  insert_ids(0, 60);
  erase_ids({100, 101});
  collection_->compact();
  expect_holds(before, rows, random_);
  expect_same();
}

TEST_F(CollectionTest, AnImportReplacesAndStays) {
  open();
  insert_ids(0, 30);
  erase_ids({7});
  const Batch batch = new_rows(5, 90);
  const Receipt receipt = collection_->import({batch.rows(), batch.ids()});
  EXPECT_EQ(receipt.done, 85u);
  EXPECT_EQ(receipt.replaced, 24u);
  expect_same();
  open();
  expect_same();
}

TEST_F(CollectionTest, LeavesNoFilesThatNothingNames) {
  open();
  insert_ids(0, 400);
  erase_ids({1, 2, 3});
  collection_->compact();
  collection_->settle();
  std::filesystem::create_directory(segments() / layout::segment_folder_name(999));
  open();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(segments()), {}), 1);
  expect_same();
}

TEST_F(CollectionTest, AReaderSeesWhatTheFilesHave) {
  open();
  insert_ids(0, 170);
  erase_ids({9, 90});
  collection_->settle();
  collection_.reset();
  CollectionReader reader(path(), small_segments());
  expect_holds(reader.view(), rows_, random_);
  EXPECT_EQ(reader.view()->version, 172u);
}

TEST_F(CollectionTest, OneProcessChangesIt) {
  open();
  EXPECT_THROW(Collection(path(), small_access()), Error);
  EXPECT_THROW(Collection::create(path(), small_shape()), Error);
}

TEST_F(CollectionTest, RefusesWhatDoesNotFit) {
  open();
  Batch twice;
  twice.add(4, random_row(random_));
  twice.add(4, random_row(random_));
  const auto refused = [&](const VectorView& rows, const std::vector<std::uint64_t>& ids) {
    return tests::message_of([&] { collection_->check({rows, ids}); });
  };
  EXPECT_NE(refused(twice.rows(), twice.ids()).find("id 4 comes twice"), std::string::npos);
  Batch infinite;
  std::vector<float> row = random_row(random_);
  row[3] = std::numeric_limits<float>::quiet_NaN();
  infinite.add(8, row);
  EXPECT_NE(refused(infinite.rows(), infinite.ids()).find("row 0 (id 8) holds NaN"),
            std::string::npos);
  Batch endless;
  endless.add(9, std::vector<float>(row.size(), 1e19f));
  EXPECT_NE(refused(endless.rows(), endless.ids()).find("row 0 (id 9) is too long"),
            std::string::npos);
  VectorView narrow = twice.rows();
  narrow.dimension = 3;
  EXPECT_NE(refused(narrow, twice.ids()).find("3 x f32"), std::string::npos);
  EXPECT_NE(refused(twice.rows(), {1}).find("2 rows and 1 ids"), std::string::npos);
}

TEST_F(CollectionTest, WhatIsKeptIsCheckedAndNotWhatWasLookedAtBefore) {
  // As a caller whose other thread changes the array after check().
  open();
  Batch batch;
  batch.add(1, random_row(random_));
  batch.add(2, random_row(random_));
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e19f}) {
    std::vector<float> changed(2 * kSmallDimension, 1.0f);
    changed[kSmallDimension] = bad;
    const VectorView rows = packed_view(changed.data(), 2, kSmallDimension, ElementType::f32);
    Receipt receipt;
    EXPECT_NE(tests::message_of([&] {
                collection_->insert({rows, batch.ids()}, within(1e6), receipt);
              }).find("row 1"),
              std::string::npos);
    EXPECT_EQ(receipt.done, 0u);
  }
  const std::vector<std::uint64_t> twice{5, 5};
  Receipt receipt;
  EXPECT_EQ(code_of([&] {
              collection_->insert({batch.rows(), twice}, within(1e6), receipt);
            }),
            StatusCode::invalid_argument);
  EXPECT_EQ(collection_->view()->live(), 0u);
  collection_.reset();
  open();
  EXPECT_EQ(collection_->view()->live(), 0u);
}

TEST_F(CollectionTest, ASearchOfManyResultsFindsAllThatLive) {
  open();
  insert_ids(0, 55);
  collection_->flush();
  insert_ids(100, 103);
  EXPECT_EQ(search_view(collection_->view(), random_row(random_), 90).ids.size(), 58u);
}

TEST_F(CollectionTest, RowsThatComeFasterThanSegmentsAreRefusedInTime) {
  CollectionAccess access = small_access();
  access.most_frozen = 1;
  open(access);
  StatusCode code = StatusCode::ok;
  for (std::uint64_t id = 0; id < 4000 && code == StatusCode::ok; ++id) {
    Batch batch;
    const std::vector<float> row = random_row(random_);
    batch.add(id, row);
    Receipt receipt;
    // Waits for nothing: its deadline has passed.
    code = code_of([&] {
      collection_->insert({batch.rows(), batch.ids()}, {.until = 0}, receipt);
    });
    if (code == StatusCode::ok) rows_[id] = row;
  }
  EXPECT_EQ(code, StatusCode::resource_exhausted);
  collection_->settle();
  expect_same();
}

TEST_F(CollectionTest, AnImportStaysThoughItsIdsWereErasedBefore) {
  open();
  insert_ids(0, 30);
  collection_->flush();
  erase_ids({3, 4, 5});
  const Batch batch = new_rows(0, 10);
  (void)collection_->import({batch.rows(), batch.ids()});
  expect_same();
  const std::uint64_t version = collection_->view()->version;
  open();
  EXPECT_EQ(collection_->view()->version, version);
  expect_same();
  insert_ids(100, 101);
  collection_->flush();
  open();
  expect_same();
}

TEST_F(CollectionTest, AnIdThatIsErasedTwiceInOneBatchIsMissingTheSecondTime) {
  open();
  insert_ids(0, 60);
  rows_.erase(5);
  rows_.erase(55);
  const Receipt receipt = erase(*collection_, {5, 55, 5, 70, 70, 55, 5});
  EXPECT_EQ(receipt.done, 2u);
  EXPECT_EQ(receipt.missing, 5u);
  expect_same();
  open();
  expect_same();
}

TEST_F(CollectionTest, WhatIsCompactIsNotWrittenAnewForOneErase) {
  open();
  insert_ids(0, 120);
  collection_->compact();
  const std::uint64_t number = collection_->view()->segments.at(0).segment->number();
  collection_->compact();
  erase_ids({1});
  collection_->settle();
  EXPECT_EQ(collection_->view()->segments.at(0).segment->number(), number);
  expect_same();
}

TEST_F(CollectionTest, ALogOfErasesAloneIsCut) {
  CollectionAccess access = small_access();
  access.most_log_bytes = 1 << 10;
  open(access);
  insert_ids(0, 60);
  collection_->flush();
  std::vector<std::uint64_t> others(300);
  std::iota(others.begin(), others.end(), 1000);
  erase_ids(others);
  collection_->settle();
  open(access);
  EXPECT_LT(collection_->recovery().changes, others.size());
  expect_same();
}

TEST_F(CollectionTest, TakesTheLargestIds) {
  open();
  const std::vector<std::uint64_t> ids = {0,
                                          kInvalidNode,
                                          kInvalidNode - 1ull,
                                          1ull << 32,
                                          std::numeric_limits<std::uint64_t>::max(),
                                          std::numeric_limits<std::uint64_t>::max() - 1};
  Batch batch;
  for (const std::uint64_t id : ids) {
    rows_[id] = random_row(random_);
    batch.add(id, rows_[id]);
  }
  (void)insert(*collection_, batch);
  expect_same();
  collection_->flush();
  expect_same();
  erase_ids({std::numeric_limits<std::uint64_t>::max(), kInvalidNode});
  collection_->compact();
  open();
  expect_same();
}

TEST_F(CollectionTest, SegmentsWithoutALiveRowAreMerged) {
  CollectionAccess access = small_access();
  access.merge = false;
  open(access);
  insert_ids(0, 40);
  collection_->flush();
  insert_ids(100, 130);
  collection_->flush();
  std::vector<std::uint64_t> gone(40);
  std::iota(gone.begin(), gone.end(), 0);
  erase_ids(gone);
  expect_same();
  collection_->compact();
  EXPECT_EQ(collection_->view()->segments.size(), 1u);
  expect_same();
}

TEST_F(CollectionTest, OpeningRemovesWhatAKilledWriterLeft) {
  open();
  insert_ids(0, 30);
  collection_->flush();
  collection_.reset();
  const auto left = [&](const std::string& name) { return segments() / name; };
  std::filesystem::create_directory(left(layout::segment_folder_name(900) + ".partial"));
  std::ofstream(left(layout::out_file_name(0, 7) + ".0123456789abcdef.partial")) << "half";
  std::ofstream(left(layout::out_file_name(0, 8))) << "of no manifest";
  std::ofstream(left("notes.txt")) << "somebody's own";
  open();
  collection_->settle();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(segments()), {}), 2);
  EXPECT_TRUE(std::filesystem::exists(left("notes.txt")));
  expect_same();
}

}  // namespace
}  // namespace farvec::collection
