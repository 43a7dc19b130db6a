// Columns that a schema gets while there are rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "collection/read/collection_follower.h"
#include "tests/unit/collection/attributed_fixture.h"
#include "tests/unit/collection/comes.h"
#include "tests/unit/file_size_limit.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

using ::testing::HasSubstr;

constexpr const char* kColumns[] = {"price: i64", "name: string", "tags: set"};

/// Has up to the three columns that conditions of the fixture ask for.
class GrowingSchema : public FilteredCollection {
 protected:
  void insert_now(std::uint64_t first, std::uint64_t end, std::uint64_t round) {
    Batch batch;
    layout::Tuples tuples;
    for (std::uint64_t id = first; id < end; ++id) {
      Values values = values_of(id, round);
      values.resize(schema_.size());
      batch.add(id, random_row(random_));
      if (!schema_.empty()) tuples.append(schema_, values);
      values.resize(std::size(kColumns));
      expected_[id] = values;
    }
    insert({batch.rows(), batch.ids(), tuples.view()});
  }
  void add(const char* columns) {
    collection_->add_columns(layout::parse_schema(columns));
    schema_ = schema_.with(layout::parse_schema(columns));
    ASSERT_EQ(collection_->row_shape().schema, schema_);
  }
  std::string refusal_of(const char* columns) {
    return tests::message_of([&] { collection_->add_columns(layout::parse_schema(columns)); });
  }

  /// Rows of before the first column and of after each, in segments and in memtables.
  void grow(const layout::CollectionManifest& shape) {
    create("", shape);
    insert_now(0, 110, 0);
    ASSERT_TRUE(collection_->flush());
    insert_now(90, 130, 1);
    for (std::uint64_t i = 0; i < std::size(kColumns); ++i) {
      add(kColumns[i]);
      insert_now(10 + 8 * i, 70 + 60 * i, 2 + i);
    }
    erase(*collection_, {7, 8, 101});
    for (const std::uint64_t id : {7, 8, 101}) expected_.erase(id);
  }
  void expect_all() {
    ASSERT_NO_FATAL_FAILURE(expect_attributes());
    expect_filtered(collection_->view());
  }
  void expect_all_after_each_step() {
    expect_all();
    open();  // from the log
    expect_all();
    ASSERT_TRUE(collection_->flush());
    expect_all();
    open();  // segments without a file of attributes, and with one
    expect_all();
    const CollectionReader reader(path(), small_segments());
    expect_filtered(reader.view());
    ASSERT_TRUE(collection_->compact());
    expect_all();
    open();
    expect_all();
  }
};

TEST_F(GrowingSchema, IsNullInOlderRowsOfGraphs) {
  grow(small_shape());
  expect_all_after_each_step();
}

TEST_F(GrowingSchema, IsNullInOlderRowsOfPackedGraphs) {
  layout::CollectionManifest shape = small_shape();
  shape.options.layout = layout::LayoutKind::packed;
  grow(shape);
  expect_all_after_each_step();
}

TEST_F(GrowingSchema, IsNullInOlderRowsOfClusters) {
  grow(small_cluster_shape());
  expect_all_after_each_step();
}

/// A memtable without rows has no room for attributes either.
TEST_F(GrowingSchema, BeginsBesideAnEmptyMemtable) {
  create("");
  add(kColumns[0]);
  insert_now(0, 10, 0);
  collection_.reset();
  std::filesystem::remove_all(path());
  expected_.clear();
  create("");
  insert_now(0, 10, 0);
  ASSERT_TRUE(collection_->flush());
  EXPECT_EQ(size_of(*collection_->view()).fresh, 0u);
  for (const char* column : kColumns) add(column);
  insert_now(5, 200, 1);
  expect_attributes();
  open();
  expect_attributes();
}

TEST_F(GrowingSchema, TakesRowsThatWereCheckedBefore) {
  create("price: i64");
  Batch batch;
  layout::Tuples tuples;
  for (std::uint64_t id = 0; id < 40; ++id) {
    batch.add(id, random_row(random_));
    tuples.append(schema_, Values{std::int64_t(id)});
    expected_[id] = {std::int64_t(id), {}, {}};
  }
  collection_->check({batch.rows(), batch.ids(), tuples.view()});
  add("name: string, tags: set");
  insert({batch.rows(), batch.ids(), tuples.view()});
  expect_attributes();
  (void)collection_->import({batch.rows(), batch.ids(), tuples.view()});
  expect_attributes();
  open();
  expect_attributes();
}

TEST_F(GrowingSchema, RefusesWhatCannotBe) {
  create("price: i64");
  insert_now(0, 5, 0);
  EXPECT_THAT(refusal_of("price: f64"), HasSubstr("two columns of the name 'price'"));
  EXPECT_THAT(refusal_of("name: string not null"), HasSubstr("'name' is not null"));
  EXPECT_THAT(refusal_of(""), HasSubstr("columns: none came"));
  std::string many = "c0: i64";
  for (int i = 1; i < 256; ++i) many += ", c" + std::to_string(i) + ": i64";
  EXPECT_THAT(refusal_of(many.c_str()), HasSubstr("more than 256"));
  EXPECT_EQ(collection_->row_shape().schema, schema_);
  open();
  EXPECT_EQ(collection_->row_shape().schema, schema_);
}

/// Whatever the disk has taken of it, the collection goes on without the column, or with it.
TEST_F(GrowingSchema, IsAsBeforeWhereTheDiskIsFull) {
  create("price: i64");
  insert_now(0, 10, 0);
  ASSERT_TRUE(collection_->flush());  // the log has nothing left to write
  {
    const tests::FileSizeLimit limit(16);
    EXPECT_NE(refusal_of("name: string, tags: set"), "");
  }
  EXPECT_EQ(collection_->row_shape().schema, schema_);
  insert_now(10, 20, 1);
  ASSERT_TRUE(collection_->flush());
  open();
  EXPECT_EQ(collection_->row_shape().schema, schema_);
  add("name: string, tags: set");
  insert_now(15, 30, 2);
  expect_attributes();
  open();
  expect_attributes();
}

TEST_F(GrowingSchema, IsSeenByFollowers) {
  create("");
  CollectionAccess access = small_access();
  access.durability = wal::Durability::commit;
  collection_.reset();
  collection_ = std::make_unique<Collection>(path(), access);
  insert_now(0, 100, 0);
  const CollectionFollower follower(
      folder_collection(path()), small_segments(),
      {.poll_us = 500, .manifest_us = 2'000, .retry_us = 5'000, .link = true});
  for (std::uint64_t i = 0; i < std::size(kColumns); ++i) {
    add(kColumns[i]);
    insert_now(8 * i, 60 + 60 * i, 2 + i);
    const std::uint64_t version = collection_->view()->version;
    ASSERT_TRUE(comes([&] { return follower.view()->version >= version; }))
        << follower.state().failure;
    ASSERT_EQ(*follower.view()->schema, schema_);
  }
  expect_filtered(follower.view());
  EXPECT_EQ(follower.state().failures, 0u) << follower.state().failure;
}

/// A thread inserts rows with all columns of the moment, others add columns, and segments are built
/// all the while.
TEST_F(GrowingSchema, GrowsBesideInserts) {
  constexpr int kAdded = 24;
  create("");
  std::atomic<bool> more{true};
  std::atomic<std::uint64_t> next{0};
  std::thread inserter([&] {
    Random random(9);
    while (more || next < 200) {
      const std::uint64_t id = next;
      const layout::Schema schema = collection_->row_shape().schema;
      Batch batch;
      batch.add(id, random_row(random));
      layout::Tuples tuples;
      if (!schema.empty()) tuples.append(schema, Values(schema.size(), std::int64_t(id)));
      Receipt receipt;
      collection_->insert({batch.rows(), batch.ids(), tuples.view()}, within(kPatienceUs), receipt);
      ++next;
    }
  });
  std::vector<std::thread> adders;
  for (const char* name : {"a", "b"}) {
    adders.emplace_back([&, name] {
      for (int i = 0; i < kAdded / 2; ++i) {
        const std::string column = name + std::to_string(i) + ": i64";
        collection_->add_columns(layout::parse_schema(column));
      }
    });
  }
  for (std::thread& adder : adders) adder.join();
  more = false;
  inserter.join();
  EXPECT_EQ(collection_->row_shape().schema.size(), std::size_t{kAdded});
  open();
  const layout::Schema schema = collection_->row_shape().schema;
  EXPECT_EQ(schema.size(), std::size_t{kAdded});
  std::vector<std::uint64_t> ids(next);
  for (std::uint64_t id = 0; id < ids.size(); ++id) ids[id] = id;
  const FoundRows found = collection_->get(ids, {});
  ASSERT_EQ(found.attributes.count(), ids.size());
  std::size_t filled = 0;
  for (const std::uint64_t id : ids) {
    const layout::Tuple tuple(found.attributes.view().row(id));
    std::size_t columns = 0;
    while (columns < schema.size() && !tuple.is_null(columns)) {
      ASSERT_EQ(tuple.value(schema, columns++), Value(std::int64_t(id)));
    }
    ASSERT_GE(columns, filled) << "a later row has fewer columns";
    filled = columns;
    for (; columns < schema.size(); ++columns) ASSERT_TRUE(tuple.is_null(columns));
  }
}

}  // namespace
}  // namespace farvec::collection
