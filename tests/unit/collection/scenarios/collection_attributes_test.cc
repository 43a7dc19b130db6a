// The attributes of rows go through the log, memtables, segments and merges, and come back with the
// rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "collection/read/collection_reader.h"
#include "tests/unit/collection/attributed_fixture.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

using testing::HasSubstr;

TEST_F(AttributedCollection, GoThroughLogMemtablesSegmentsAndMerges) {
  create("price: i64, name: string, tags: set");
  insert(0, 30, 0);
  expect_attributes();
  open();  // from the log
  expect_attributes();
  insert(20, 45, 1);  // in place of some
  expect_attributes();
  ASSERT_TRUE(collection_->flush());
  expect_attributes();
  for (std::uint64_t round = 2; round < 9; ++round) insert(round * 20, round * 20 + 60, round);
  erase(*collection_, {41, 150});
  expected_.erase(41);
  expected_.erase(150);
  expect_attributes();
  ASSERT_TRUE(collection_->compact());
  ASSERT_EQ(collection_->view()->segments.size(), 1u);
  expect_attributes();
  open();
  expect_attributes();
}

TEST_F(AttributedCollection, GoThroughSegmentsOfClusters) {
  create("price: i64, name: string, tags: set", small_cluster_shape());
  insert(0, 120, 0);
  insert(60, 90, 1);
  ASSERT_TRUE(collection_->compact());
  expect_attributes();
}

TEST_F(AttributedCollection, AreNullForRowsThatBringNone) {
  create("price: i64, name: string, tags: set");
  Batch batch;
  for (std::uint64_t id = 0; id < 60; ++id) {
    batch.add(id, random_row(random_));
    expected_[id] = Values(3);
  }
  insert({batch.rows(), batch.ids()});
  expect_attributes();
  ASSERT_TRUE(collection_->compact());
  expect_attributes();
  Batch more;
  more.add(1000, random_row(random_));
  expected_[1000] = Values(3);
  (void)collection_->import({more.rows(), more.ids()});
  open();
  expect_attributes();
}

TEST_F(AttributedCollection, ComeWithAnImport) {
  create("price: i64, name: string, tags: set");
  insert(0, 10, 0);
  Batch batch;
  layout::Tuples tuples;
  for (std::uint64_t id = 5; id < 80; ++id) {
    batch.add(id, random_row(random_));
    tuples.append(schema_, values_of(id, 3));
    expected_[id] = values_of(id, 3);
  }
  (void)collection_->import({batch.rows(), batch.ids(), tuples.view()});
  expect_attributes();
}

/// Rows with the longest attributes make records of a few rows each.
TEST_F(AttributedCollection, OfAnyLengthFitTheLog) {
  create("price: i64, name: string, tags: set");
  Batch batch;
  layout::Tuples tuples;
  for (std::uint64_t id = 0; id < 45; ++id) {
    batch.add(id, random_row(random_));
    expected_[id] = {std::int64_t(id), std::string(65'000 - id, 'x'), Value()};
    tuples.append(schema_, expected_[id]);
  }
  insert({batch.rows(), batch.ids(), tuples.view()});
  open();
  expect_attributes();
}

TEST_F(AttributedCollection, ThatDoNotFitAreRefusedAndNothingIsIn) {
  create("price: i64 not null, name: string");
  Batch batch;
  for (std::uint64_t id = 0; id < 3; ++id) batch.add(id, random_row(random_));
  layout::Tuples two;
  for (int i = 0; i < 2; ++i) two.append(schema_, Values{std::int64_t{1}, {}});
  layout::Tuples damaged;
  for (int i = 0; i < 3; ++i) damaged.append(schema_, Values{std::int64_t{1}, std::string("abc")});
  damaged.bytes.back() = std::byte{0xff};
  const auto says = [&](const changes::RowBatch& rows, const char* what) {
    Receipt receipt;
    EXPECT_THAT(tests::message_of([&] { collection_->check(rows); }), HasSubstr(what));
    EXPECT_THAT(tests::message_of([&] { collection_->insert(rows, within(kPatienceUs), receipt); }),
                HasSubstr(what));
    EXPECT_THAT(tests::message_of([&] { (void)collection_->import(rows); }), HasSubstr(what));
    EXPECT_EQ(receipt.done, 0u);
  };
  says({batch.rows(), batch.ids()}, "column 'price' is null");
  says({batch.rows(), batch.ids(), two.view()}, "3 rows and the attributes of 2");
  says({batch.rows(), batch.ids(), damaged.view()}, "row 2: its attributes are not sound");
  layout::Tuples lying = damaged;
  lying.ends[1] = lying.ends[0] - 1;
  says({batch.rows(), batch.ids(), lying.view()}, "row 1: its attributes end where they cannot");
  EXPECT_EQ(collection_->view()->live(), 0u);
  open();
  EXPECT_EQ(collection_->view()->live(), 0u);
}

TEST_F(AttributedCollection, OfACollectionWithoutASchemaAreRefused) {
  create("");
  Batch batch;
  batch.add(1, random_row(random_));
  layout::Tuples tuples;
  tuples.append(layout::parse_schema("a: i64"), Values{std::int64_t{1}});
  EXPECT_THAT(tests::message_of([&] {
                collection_->check({batch.rows(), batch.ids(), tuples.view()});
              }),
              HasSubstr("a schema without columns"));
  insert({batch.rows(), batch.ids()});
  EXPECT_EQ(collection_->get(batch.ids(), {}).attributes.count(), 0u);
}

TEST_F(AttributedCollection, AreFoundDamagedWhenASegmentIsOpened) {
  create("price: i64, name: string, tags: set");
  insert(0, 20, 0);
  ASSERT_TRUE(collection_->flush());
  const std::filesystem::path file =
      path() / "segments" /
      layout::segment_folder_name(collection_->view()->segments.front().segment->number()) /
      "attributes.bin";
  collection_.reset();
  const auto size = std::filesystem::file_size(file);
  for (std::uintmax_t at = 0; at < size; at += at < 64 ? 1 : 37) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(static_cast<std::streamoff>(at));
    const char was = static_cast<char>(bytes.get());
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put(static_cast<char>(was ^ 4)).flush();
    EXPECT_THAT(tests::message_of([&] { open(); }), HasSubstr("attributes.bin")) << at;
    EXPECT_THAT(tests::message_of([&] { const CollectionReader reader(path(), small_segments()); }),
                HasSubstr("attributes.bin"));
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put(was);
  }
  std::filesystem::resize_file(file, size - 1);
  EXPECT_THAT(tests::message_of([&] { open(); }), HasSubstr("attributes.bin"));
  std::filesystem::remove(file);
  EXPECT_THAT(tests::message_of([&] { open(); }), HasSubstr("attributes.bin"));
}

}  // namespace
}  // namespace farvec::collection
