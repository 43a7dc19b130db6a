// The attributes of rows go through the log, memtables, segments and merges, and come back with the
// rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "attributes/condition.h"
#include "base/error.h"
#include "collection/read/collection_reader.h"
#include "tests/unit/collection/collection_fixture.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::collection {
namespace {

using layout::Value;
using testing::HasSubstr;
using Values = std::vector<Value>;

class AttributedCollection : public ::testing::Test {
 protected:
  void create(const char* schema, layout::CollectionManifest shape = small_shape()) {
    schema_ = layout::parse_schema(schema);
    shape.schema = schema_;
    Collection::create(path(), shape);
    open();
  }
  std::filesystem::path path() const { return folder_.path() / "set"; }
  void open() {
    collection_.reset();
    collection_ = std::make_unique<Collection>(path(), small_access());
  }

  /// What the attributes of an id are: some of them null, texts of very different lengths.
  static Values values_of(std::uint64_t id, std::uint64_t round) {
    Values values{std::int64_t(id * 7) - 100, std::string(id % 50, 'a' + char(round)),
                  std::vector<std::string>{"t" + std::to_string(id % 3), "all"}};
    if (id % 5 == 0) values[id % 3] = {};
    return values;
  }

  void insert(std::uint64_t first, std::uint64_t end, std::uint64_t round) {
    Batch batch;
    layout::Tuples tuples;
    for (std::uint64_t id = first; id < end; ++id) {
      batch.add(id, random_row(random_));
      tuples.append(schema_, values_of(id, round));
      expected_[id] = values_of(id, round);
    }
    insert({batch.rows(), batch.ids(), tuples.view()});
  }
  void insert(const changes::RowBatch& batch) {
    Receipt receipt;
    collection_->check(batch);
    collection_->insert(batch, within(kPatienceUs), receipt);
    EXPECT_EQ(receipt.done, batch.rows.count);
  }

  /// Every row that is there has its attributes.
  void expect_attributes() {
    std::vector<std::uint64_t> ids;
    for (const auto& [id, values] : expected_) ids.push_back(id);
    const FoundRows found = collection_->get(ids, {});
    ASSERT_EQ(found.attributes.count(), ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ASSERT_TRUE(found.found[i]) << ids[i];
      const layout::Tuple tuple(found.attributes.view().row(i));
      for (std::size_t column = 0; column < schema_.size(); ++column) {
        ASSERT_EQ(tuple.value(schema_, column), sorted(expected_[ids[i]][column])) << ids[i];
      }
    }
  }
  static Value sorted(Value value) {
    if (auto* labels = std::get_if<std::vector<std::string>>(&value)) {
      std::sort(labels->begin(), labels->end());
    }
    return value;
  }

  tests::TemporaryFolder folder_;
  layout::Schema schema_;
  Random random_{5};
  std::map<std::uint64_t, Values> expected_;
  std::unique_ptr<Collection> collection_;
};

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

/// Rows of several segments, some of them out, and of a memtable.
class FilteredCollection : public AttributedCollection {
 protected:
  void fill(const layout::CollectionManifest& shape) {
    create("price: i64, name: string, tags: set", shape);
    for (std::uint64_t round = 0; round < 6; ++round) insert(round * 40, round * 40 + 90, round);
    erase(*collection_, {7, 8, 201});
    for (const std::uint64_t id : {7, 8, 201}) expected_.erase(id);
  }

  /// The rows that meet the condition, told row by row.
  Rows matching(const attributes::Condition& condition) {
    Rows rows;
    std::vector<std::uint64_t> ids;
    for (const auto& [id, values] : expected_) ids.push_back(id);
    const FoundRows found = collection_->get(ids, {});
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const layout::Tuple tuple(found.attributes.view().row(i));
      if (evaluate(condition, tuple, ids[i]) != attributes::Truth::yes) continue;
      std::vector<float> row(kSmallDimension);
      std::memcpy(row.data(), found.rows.data() + i * kSmallDimension * sizeof(float),
                  kSmallDimension * sizeof(float));
      rows.emplace(ids[i], row);
    }
    return rows;
  }

  void expect_filtered(const ViewPointer& view) {
    std::size_t some = 0;
    for (const char* text : kConditions) {
      const auto condition = attributes::parse_condition(text, schema_);
      const Rows rows = matching(*condition);
      some += rows.empty() ? 0 : 1;
      for (const std::uint32_t k : {1u, 10u, 100u}) {
        const std::vector<float> query = random_row(random_);
        const auto nearest = exact(rows, Metric::l2, query);
        const Answer answer = search_view(view, query, k, kAll, condition.get());
        ASSERT_EQ(answer.ids.size(), std::min<std::size_t>(k, rows.size())) << text;
        for (std::size_t r = 0; r < answer.ids.size(); ++r) {
          ASSERT_EQ(answer.ids[r], nearest[r].second) << text << ": result " << r;
        }
      }
    }
    EXPECT_GT(some, 10u);
  }

  static constexpr const char* kConditions[] = {
      "true",
      "false",
      "price < 200",
      "price < -1000",
      "price between 100 and 400 and not tags contains any ('t1')",
      "tags contains all ('all', 't2') or name is null",
      "name prefix 'bbb'",
      "not (price >= 0)",
      "price is null",
      "id = 17",
      "id in (3, 7, 60, 249, 1000)",
      "id between 100 and 140 or tags contains any ('t0')",
      "name = 'ccccc'",
      "tags is not null and price != 40",
      "price in (5, 12, 19)"};
};

TEST_F(FilteredCollection, FindsTheNearestThatMeetAConditionInGraphs) {
  fill(small_shape());
  expect_filtered(collection_->view());
  ASSERT_TRUE(collection_->flush());
  expect_filtered(collection_->view());
  ASSERT_TRUE(collection_->compact());
  expect_filtered(collection_->view());
  open();
  expect_filtered(collection_->view());
  const CollectionReader reader(path(), small_segments());
  expect_filtered(reader.view());
}

TEST_F(FilteredCollection, FindsTheNearestThatMeetAConditionInClusters) {
  fill(small_cluster_shape());
  ASSERT_TRUE(collection_->flush());
  insert(500, 530, 2);
  expect_filtered(collection_->view());
  ASSERT_TRUE(collection_->compact());
  expect_filtered(collection_->view());
}

TEST_F(FilteredCollection, FindsTheNearestThatMeetAConditionInClustersOfEachLayout) {
  for (const layout::ClusterLayoutKind layout : layout::kClusterLayouts) {
    SCOPED_TRACE(to_string(layout));
    collection_.reset();
    std::filesystem::remove_all(path());
    expected_.clear();
    fill(small_cluster_shape(layout));
    ASSERT_TRUE(collection_->compact());
    const ViewPointer compact = collection_->view();
    const std::size_t before = size_of(*compact).dram_bytes;
    expect_filtered(compact);
    insert(100, 180, 1);
    ASSERT_TRUE(collection_->flush());
    expect_filtered(collection_->view());
    EXPECT_GT(size_of(*compact).dram_bytes, before) << "what searches keep counts";
    open();
    expect_filtered(collection_->view());
    const CollectionReader reader(path(), small_segments("emulated:rdma"));
    expect_filtered(reader.view());
  }
}

TEST_F(FilteredCollection, FindsTheNearestThatMeetAConditionInPackedGraphs) {
  layout::CollectionManifest shape = small_shape();
  shape.options.layout = layout::LayoutKind::packed;
  fill(shape);
  ASSERT_TRUE(collection_->compact());
  expect_filtered(collection_->view());
  const CollectionReader reader(path(), small_segments("emulated:rdma"));
  expect_filtered(reader.view());
}

/// The first search costs what others do: where rows are was learned when the segment was loaded.
TEST_F(FilteredCollection, ReadsNoOtherRowsOfPackedGraphs) {
  layout::CollectionManifest shape = small_shape();
  shape.options.layout = layout::LayoutKind::packed;
  fill(shape);
  ASSERT_TRUE(collection_->compact());
  const auto condition = attributes::parse_condition("price between 100 and 180", schema_);
  const std::size_t rows = matching(*condition).size();
  ASSERT_GT(rows, 5u);
  for (int round = 0; round < 2; ++round) {
    const Answer answer =
        search_view(collection_->view(), random_row(random_), 3, 3, condition.get());
    EXPECT_EQ(answer.counts.hops, 0u);
    EXPECT_EQ(answer.counts.estimates, rows);
    EXPECT_EQ(answer.counts.reads, 3u);
  }
}

/// Few match, and all are compared; the number of clusters asked for does not matter.
TEST_F(FilteredCollection, ReadsNoOtherRowsOfClusters) {
  fill(small_cluster_shape());
  ASSERT_TRUE(collection_->compact());
  const auto condition = attributes::parse_condition("price between 100 and 180", schema_);
  const std::size_t rows = matching(*condition).size();
  const Answer answer =
      search_view(collection_->view(), random_row(random_), 3, 1, condition.get());
  EXPECT_EQ(answer.counts.distances, rows);
  EXPECT_EQ(answer.counts.matches, rows);
  EXPECT_EQ(answer.counts.group_reads + answer.counts.list_reads, 0u);
}

TEST_F(FilteredCollection, MayAskForIdsWhereRowsHaveNoAttributes) {
  create("");
  Batch batch;
  for (std::uint64_t id = 0; id < 70; ++id) batch.add(id, random_row(random_));
  AttributedCollection::insert({batch.rows(), batch.ids()});
  ASSERT_TRUE(collection_->flush());
  const auto condition = attributes::parse_condition("id between 20 and 24 or id = 69", schema_);
  const Answer answer =
      search_view(collection_->view(), random_row(random_), 10, kAll, condition.get());
  EXPECT_THAT(answer.ids, testing::UnorderedElementsAre(20, 21, 22, 23, 24, 69));
}

}  // namespace
}  // namespace farvec::collection
