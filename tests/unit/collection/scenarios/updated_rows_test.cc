// The attributes of rows change, and their vectors stay where they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "collection/read/collection_follower.h"
#include "collection/read/collection_reader.h"
#include "tests/unit/collection/updated_fixture.h"
#include "tests/unit/file_size_limit.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

using ::testing::HasSubstr;

TEST_F(UpdatedRows, AreFoundByTheirNewAttributesInGraphs) {
  change_and_compare(small_shape());
}

TEST_F(UpdatedRows, AreFoundByTheirNewAttributesInClusters) {
  change_and_compare(small_cluster_shape());
}

TEST_F(UpdatedRows, KeepTheirVectorsAndTheirSegment) {
  fill(small_shape());
  ASSERT_TRUE(collection_->compact());
  const std::uint64_t written = collection_->state().written_bytes;
  const auto segment = collection_->view()->segments.front().segment;
  const Receipt receipt = update_where("price < 200", "price", std::int64_t{1});
  EXPECT_GT(receipt.done, 20u);
  EXPECT_EQ(receipt.version, collection_->view()->version);
  EXPECT_EQ(collection_->view()->segments.front().segment, segment);
  EXPECT_EQ(updated(), receipt.done);
  EXPECT_EQ(size_of(*collection_->view()).out, 0u);
  // The log has the new tuples, of up to 130 bytes here, and no vector.
  EXPECT_LT(collection_->state().written_bytes - written, receipt.done * 140 + 100);
}

TEST_F(UpdatedRows, OfALargeShareAreWrittenIntoTheirSegment) {
  fill(small_shape());
  ASSERT_TRUE(collection_->compact());
  update_where("", "price", std::int64_t{5});
  for (auto& [id, values] : expected_) values[0] = std::int64_t{5};
  collection_->settle();
  // A few may have come while the segment was rewritten.
  EXPECT_LT(updated(), expected_.size() * 3 / 10);
  expect_attributes();
}

/// What is saved, and what the log has after it.
TEST_F(UpdatedRows, StayWhenTheCollectionIsOpenedAgain) {
  fill(small_shape());
  ASSERT_TRUE(collection_->compact());
  update({3, 60, 100}, "price", {std::int64_t{-1}});
  for (const std::uint64_t id : {3, 60, 100}) expected_[id][0] = std::int64_t{-1};
  insert(900, 910, 1);
  ASSERT_TRUE(collection_->flush());  // saves the updates too
  EXPECT_EQ(layout::read_collection(path()).segments.front().update_count, 3u);
  update({3, 101}, "price", {std::int64_t{-2}});
  for (const std::uint64_t id : {3, 101}) expected_[id][0] = std::int64_t{-2};
  open();
  expect_attributes();
  expect_filtered(collection_->view());
  const CollectionReader reader(path(), small_segments());
  expect_filtered(reader.view());
}

TEST_F(UpdatedRows, AreFoundDamagedWhenTheCollectionIsOpened) {
  fill(small_shape());
  ASSERT_TRUE(collection_->compact());
  update({3, 60, 100}, "name", {std::string("new")});
  insert(900, 910, 1);
  ASSERT_TRUE(collection_->flush());
  const layout::SegmentEntry entry = layout::read_collection(path()).segments.front();
  const std::filesystem::path file =
      path() / "segments" / layout::updates_file_name(entry.number, entry.update_version);
  collection_.reset();
  const auto size = std::filesystem::file_size(file);
  for (std::uintmax_t at = 0; at < size; at += 7) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(static_cast<std::streamoff>(at));
    const char was = static_cast<char>(bytes.get());
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put(static_cast<char>(was ^ 4)).flush();
    EXPECT_THAT(tests::message_of([&] { open(); }), HasSubstr(file.filename())) << at;
    EXPECT_THAT(tests::message_of([&] { const CollectionReader reader(path(), small_segments()); }),
                HasSubstr(file.filename()));
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put(was);
  }
  open();
  EXPECT_EQ(collection_->list({.filter = "name = 'new'"}, {}).matches, 3u);
}

TEST_F(UpdatedRows, AreSeenByAFollower) {
  fill(small_shape());
  collection_.reset();
  CollectionAccess access = small_access();
  access.durability = wal::Durability::commit;
  collection_ = std::make_unique<Collection>(path(), access);
  const CollectionFollower follower(path(), small_segments(),
                                    {.poll_us = 500, .manifest_us = 2'000, .retry_us = 2'000});
  for (std::uint64_t round = 0; round < 6; ++round) {
    update_some(round);
    retag(round);
    ASSERT_NO_FATAL_FAILURE(move_on(round));
    const std::uint64_t version = collection_->view()->version;
    const Ticks deadline = now_ticks() + us_to_ticks(kPatienceUs);
    while (follower.view()->version < version && now_ticks() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_EQ(follower.view()->version, version);
    expect_filtered(follower.view());
  }
}

TEST_F(UpdatedRows, ThatHaveTheValuesAlreadyAreDone) {
  fill(small_shape());
  ASSERT_TRUE(collection_->flush());
  const Receipt first = update_where("id < 50", "price", std::int64_t{1});
  const std::uint64_t version = collection_->view()->version;
  const std::uint64_t written = collection_->state().written_bytes;
  const Receipt again = update_where("id < 50", "price", std::int64_t{1});
  EXPECT_EQ(again.done, first.done);
  EXPECT_EQ(collection_->view()->version, version);
  EXPECT_EQ(collection_->state().written_bytes, written) << "nothing is in the log again";
  EXPECT_EQ(update({3, 60, 100'000}, "price", {std::int64_t{1}}).done, 2u);
  EXPECT_EQ(collection_->view()->version, version + 1);
  EXPECT_EQ(collection_->list({.filter = "price = 1"}, {}).matches, first.done + 1);
}

/// The same where every column gets a new value, and segments have taken the former ones.
TEST_F(UpdatedRows, ThatHaveAllTheirValuesAlreadyAreDone) {
  create("price: i64");
  Batch batch;
  layout::Tuples tuples;
  for (std::uint64_t id = 0; id < 40; ++id) {
    batch.add(id, random_row(random_));
    tuples.append(schema_, Values{std::int64_t(id)});
  }
  insert({batch.rows(), batch.ids(), tuples.view()});
  ASSERT_TRUE(collection_->compact());
  EXPECT_EQ(update_where("true", "price", std::int64_t{7}).done, 40u);
  ASSERT_TRUE(collection_->compact());
  const std::uint64_t version = collection_->view()->version;
  const std::uint64_t merged = collection_->state().merged;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(update_where("true", "price", std::int64_t{7}).done, 40u);
    collection_->settle();
  }
  EXPECT_EQ(collection_->view()->version, version);
  EXPECT_EQ(collection_->state().merged, merged);
}

/// What a view shows may not be durable: whoever asks for the same values waits for it too, and is
/// told where the log has ended.
TEST_F(UpdatedRows, AreNotDoneWhereTheLogHasEnded) {
  fill(small_shape());
  collection_.reset();
  CollectionAccess access = small_access();
  access.durability = wal::Durability::commit;
  collection_ = std::make_unique<Collection>(path(), access);
  {
    const tests::FileSizeLimit full(200);
    EXPECT_ANY_THROW(update({3}, "price", {std::int64_t{7}}));
    EXPECT_ANY_THROW(update({3}, "price", {std::int64_t{7}})) << "it is not durable";
    EXPECT_ANY_THROW(update_where("id = 3", "price", std::int64_t{7}));
  }
  open();
  expect_attributes();
}

TEST_F(UpdatedRows, TakeTheFirstOfEqualIds) {
  fill(small_shape());
  const Receipt receipt =
      update({20, 21, 20}, "price", {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}});
  EXPECT_EQ(receipt.done, 2u);
  EXPECT_EQ(receipt.missing, 1u);
  expected_[20][0] = std::int64_t{1};
  expected_[21][0] = std::int64_t{2};
  expect_attributes();
  EXPECT_EQ(update({}, "price", {}).done, 0u);
  EXPECT_EQ(update({100'000}, "price", {std::int64_t{1}}).missing, 1u);
  EXPECT_EQ(update_where("false", "price", std::int64_t{1}).done, 0u);
}

TEST_F(UpdatedRows, ThatCannotBeAreRefusedAndNothingChanges) {
  fill(small_shape());
  const auto says = [&](const std::vector<std::uint64_t>& ids, const changes::ColumnValues& values,
                        const char* what) {
    Receipt receipt;
    EXPECT_THAT(
        tests::message_of([&] { collection_->update(ids, values, within(kPatienceUs), receipt); }),
        HasSubstr(what));
    EXPECT_THAT(tests::message_of([&] {
                  collection_->update_matching("true", values, within(kPatienceUs), receipt);
                }),
                HasSubstr(what));
    EXPECT_EQ(receipt.done, 0u);
  };
  const std::uint64_t version = collection_->view()->version;
  const layout::Tuples two = tuples_of("price", {std::int64_t{1}, std::int64_t{2}});
  says({1, 2, 3}, {{"price"}, two.view()}, "the new values of 2");
  says({1, 2}, {{"prise"}, two.view()}, "prise");
  says({1, 2}, {{}, two.view()}, "no column came");
  says({1, 2}, {{"name"}, two.view()}, "not sound");
  EXPECT_THAT(tests::message_of([&] { update_where("price <", "price", std::int64_t{1}); }),
              HasSubstr("filter: "));
  EXPECT_EQ(collection_->view()->version, version);
  expect_attributes();
}

/// A row's attributes have a bound together, which new values of a column may break.
TEST_F(UpdatedRows, WithTooLongAttributesAreNamed) {
  create("price: i64, name: string, note: string");
  Batch batch;
  layout::Tuples tuples;
  for (std::uint64_t id = 0; id < 3; ++id) {
    batch.add(id, random_row(random_));
    expected_[id] = {std::int64_t{0}, std::string(id == 1 ? 40'000 : 5, 'x'), Value()};
    tuples.append(schema_, expected_[id]);
  }
  insert({batch.rows(), batch.ids(), tuples.view()});
  const std::string message = tests::message_of([&] {
    update({0, 1, 2}, "note", {std::string(40'000, 'y')});
  });
  EXPECT_THAT(message, HasSubstr("the row of id 1"));
  expect_attributes();
}

TEST_F(UpdatedRows, OfACollectionThatGrewHaveTheNewColumns) {
  create("price: i64, name: string, tags: set");
  insert(0, 40, 0);
  ASSERT_TRUE(collection_->flush());
  collection_->add_columns(layout::parse_schema("stock: u64"));
  schema_ = collection_->row_shape().schema;
  for (auto& [id, values] : expected_) values.resize(4);
  update({1, 2, 39}, "stock", {std::uint64_t{7}});
  for (const std::uint64_t id : {1, 2, 39}) expected_[id][3] = std::uint64_t{7};
  expect_attributes();
  EXPECT_EQ(collection_->list({.filter = "stock = 7"}, {}).matches, 3u);
  EXPECT_EQ(collection_->list({.filter = "stock is null"}, {}).matches, 37u);
  ASSERT_TRUE(collection_->compact());
  expect_attributes();
  open();
  expect_attributes();
}

}  // namespace
}  // namespace farvec::collection
