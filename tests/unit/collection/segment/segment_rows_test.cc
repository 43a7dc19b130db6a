#include "collection/segment/segment_rows.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/collection/comes.h"

namespace farvec::collection {
namespace {

/// Of every layout that a segment can have, by its word.
struct SegmentRowsTest : ::testing::TestWithParam<std::string_view> {
  tests::TemporaryFolder folder;
  Random random{3};
  Rows rows;
  std::unique_ptr<Collection> collection;

  void open() {
    layout::CollectionManifest shape = small_shape();
    for (const auto kind : layout::kClusterLayouts) {
      if (to_string(kind) == GetParam()) shape = small_cluster_shape(kind);
    }
    if (shape.options.kind == layout::IndexKind::graph) {
      shape.options.layout = layout::parse_layout_kind(GetParam());
    }
    Collection::create(folder.path() / "set", shape);
    collection = std::make_unique<Collection>(folder.path() / "set", small_access());
  }
  void insert_ids(std::uint64_t begin, std::uint64_t end) {
    Batch batch;
    for (std::uint64_t id = begin; id < end; ++id) {
      rows[id] = random_row(random);
      batch.add(id, rows[id]);
    }
    (void)insert(*collection, batch);
  }
  void erase_ids(const std::vector<std::uint64_t>& ids) {
    for (const std::uint64_t id : ids) rows.erase(id);
    (void)erase(*collection, ids);
  }
  void expect_rows() const {
    std::vector<std::uint64_t> ids;
    for (std::uint64_t id = 0; id < 250; ++id) ids.push_back(id);
    const FoundRows got = collection->get(ids, within(kPatienceUs));
    ASSERT_EQ(got.found.size(), ids.size());
    EXPECT_EQ(got.version, collection->view()->version);
    const std::byte* next = got.rows.data();
    for (const std::uint64_t id : ids) {
      const auto row = rows.find(id);
      ASSERT_EQ(got.found[id], row != rows.end()) << "id " << id;
      if (row == rows.end()) continue;
      ASSERT_EQ(std::memcmp(next, row->second.data(), kSmallDimension * sizeof(float)), 0)
          << "id " << id;
      next += kSmallDimension * sizeof(float);
    }
    EXPECT_EQ(next, got.rows.data() + got.rows.size());
  }
};

TEST_P(SegmentRowsTest, AreThoseThatWereInsertedWhereverTheyLie) {
  open();
  expect_rows();
  insert_ids(0, 30);
  expect_rows();
  collection->flush();
  expect_rows();
  insert_ids(20, 200);  // some in place of others
  erase_ids({0, 25, 199});
  expect_rows();
  collection->settle();
  expect_rows();
  insert_ids(24, 27);
  collection->compact();
  EXPECT_EQ(collection->view()->segments.size(), 1u);
  expect_rows();
  erase_ids({1, 2, 3});
  expect_rows();
}

/// Records in memory are read there: their file may then say what it likes.
TEST_P(SegmentRowsTest, OfGraphsAreReadFromMemoryWhereTheirRecordsAre) {
  open();
  insert_ids(0, 45);
  collection->flush();
  const ViewPointer view = collection->view();
  ASSERT_EQ(view->segments.size(), 1u);
  const Segment& segment = *view->segments.front().segment;
  EXPECT_TRUE(segment.records().in_memory().empty()) << "nothing is loaded yet";
  expect_rows();
  if (segment.manifest().is_slotted()) return;
  segment.records().load();
  EXPECT_FALSE(segment.records().in_memory().empty());
  expect_rows();
  if (segment.manifest().is_cluster()) return;
  std::size_t damaged = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder.path() / "set")) {
    if (!file.path().filename().string().starts_with("records.")) continue;
    std::fstream bytes(file.path(), std::ios::binary | std::ios::in | std::ios::out);
    bytes.seekp(layout::kRegionHeaderBytes);
    const std::uintmax_t left = file.file_size() - layout::kRegionHeaderBytes;
    for (std::uintmax_t i = 0; i < left; ++i) bytes.put('\0');
    ++damaged;
  }
  EXPECT_GT(damaged, 0u);
  expect_rows();
}

TEST_P(SegmentRowsTest, AreNotReadBehindTheDeadline) {
  open();
  insert_ids(0, 50);
  const std::vector<std::uint64_t> ids{0, 49};
  const auto read = [&](std::span<const std::uint64_t> some, double us) {
    return code_of([&] { (void)collection->get(some, within(us)); });
  };
  EXPECT_EQ(read(ids, 0), StatusCode::ok) << "of a memtable nothing is read";
  collection->flush();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(read(ids, 0), StatusCode::deadline_exceeded);
  EXPECT_EQ(read(std::vector<std::uint64_t>{1000}, 0), StatusCode::ok) << "it is nowhere";
  // However little time each one has, it gets further than the one before.
  EXPECT_TRUE(comes([&] { return read(ids, 100) == StatusCode::ok; }));
  expect_rows();
}

TEST_P(SegmentRowsTest, AreReadByThreadsThatComeAtOnce) {
  open();
  insert_ids(0, 250);
  collection->flush();
  std::vector<std::thread> readers;
  for (int t = 0; t < 4; ++t) {
    readers.emplace_back([this] { expect_rows(); });
  }
  for (std::thread& reader : readers) reader.join();
}

INSTANTIATE_TEST_SUITE_P(Layouts, SegmentRowsTest,
                         ::testing::Values("csr", "packed", "inline", "coupled", "decoupled",
                                           "grouped", "grouped-inline"),
                         [](const auto& test) {
                           std::string name(test.param);
                           std::erase(name, '-');
                           return name;
                         });

TEST(SegmentRows, OfACollectionOfCosineAreNormalised) {
  tests::TemporaryFolder folder;
  Collection::create(folder.path() / "set", small_shape(Metric::cosine));
  Collection collection(folder.path() / "set", small_access());
  Batch batch;
  batch.add(5, {3, 0, 4, 0, 0, 0, 0});
  (void)insert(collection, batch);
  for (int i = 0; i < 2; ++i) {
    const std::vector<std::uint64_t> ids{5, 6, 5};
    const FoundRows got = collection.get(ids, within(kPatienceUs));
    EXPECT_EQ(got.found, (std::vector<bool>{true, false, true}));
    std::vector<float> row(2 * kSmallDimension);
    ASSERT_EQ(got.rows.size(), row.size() * sizeof(float));
    std::memcpy(row.data(), got.rows.data(), got.rows.size());
    EXPECT_FLOAT_EQ(row[0], 0.6F);
    EXPECT_FLOAT_EQ(row[kSmallDimension + 2], 0.8F);
    collection.flush();
  }
}

TEST(SegmentRows, WhoGivesUpWaitingIsToldAndTheWorkGoesOn) {
  tests::TemporaryFolder folder;
  Collection::create(folder.path() / "set", small_shape());
  Collection collection(folder.path() / "set", small_access());
  Batch batch;
  Random random(1);
  for (std::uint64_t id = 0; id < 20; ++id) batch.add(id, random_row(random));
  (void)insert(collection, batch);
  EXPECT_FALSE(collection.flush([] { return true; }));
  EXPECT_TRUE(collection.flush());
  EXPECT_FALSE(collection.view()->segments.empty());
  (void)erase(collection, {0});
  EXPECT_FALSE(collection.compact([] { return true; }));
  EXPECT_TRUE(collection.compact());
  EXPECT_EQ(size_of(*collection.view()).out, 0u);
  (void)erase(collection, {1});
  collection.settle();
  EXPECT_EQ(size_of(*collection.view()).out, 1u) << "a compaction that is over is not made again";
}

}  // namespace
}  // namespace farvec::collection
