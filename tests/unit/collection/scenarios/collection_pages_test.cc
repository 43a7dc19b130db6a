// Collections whose segments are graphs in slotted pages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collection/read/collection_follower.h"
#include "collection/read/collection_reader.h"
#include "collection/segment/segment_folder.h"
#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/message_of.h"

namespace farvec::collection::of_pages {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Pools = std::shared_ptr<slotted::PoolBudget>;

CollectionAccess on_ssd(Pools pools = nullptr) {
  CollectionAccess access = small_access("ssd");
  access.segments.shape.pools = std::move(pools);
  return access;
}

class PageSegments : public ChangingCollection {
 protected:
  explicit PageSegments(const layout::CollectionManifest& shape = small_page_shape())
      : ChangingCollection(shape) {}

  const View::Bulk& only() const {
    EXPECT_EQ(collection_->view()->segments.size(), 1u);
    return collection_->view()->segments.front();
  }
  /// Reads each row by its id.
  void expect_rows() const {
    for (const auto& [id, row] : rows_) {
      const changes::FoundRows found = collection_->get(std::array{id}, within(kPatienceUs));
      ASSERT_EQ(found.rows.size(), kSmallDimension * sizeof(float)) << id;
      EXPECT_EQ(std::memcmp(found.rows.data(), row.data(), found.rows.size()), 0) << id;
    }
  }
};

TEST_F(PageSegments, HoldWhatTheyShouldWhateverHappens) {
  open(on_ssd());
  for (int i = 0; i < 120; ++i) {
    change_somehow(on_ssd());
    if (!rows_.empty()) expect_same();
  }
  collection_->compact();
  expect_rows();
  EXPECT_TRUE(only().segment->manifest().is_slotted());
  only().segment->folder().directory().verify({.quiet = true});
}

TEST_F(PageSegments, AMergeKeepsTheLargestAndTakesTheRestIn) {
  CollectionAccess access = on_ssd();
  access.merge = false;
  open(access);
  const Batch many = new_rows(0, 400);
  (void)collection_->import({many.rows(), many.ids()});
  insert_ids(380, 420);
  collection_->flush();
  erase_ids({0, 1, 41, 42, 399});
  expect_same();
  collection_->compact();
  expect_same();
  EXPECT_TRUE(only().out->empty());
  EXPECT_EQ(only().segment->manifest().count, rows_.size());
  EXPECT_EQ(only().segment->manifest().graph().build.merges, 1u);
  open(access);
  expect_same();
  expect_holds(CollectionReader(path(), small_segments("ssd")).view(), rows_, random_);
}

TEST_F(PageSegments, AFollowerReadsTheFolder) {
  open(on_ssd());
  const CollectionFollower follower(path(), small_segments("ssd"),
                                    {.poll_us = 500, .manifest_us = 2'000});
  for (std::uint64_t i = 0; i < 5; ++i) {
    insert_ids(60 * i, 60 * i + 60);
    collection_->flush();
    const Ticks deadline = now_ticks() + us_to_ticks(kPatienceUs);
    while (follower.view()->version < collection_->view()->version && now_ticks() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    expect_holds(follower.view(), rows_, random_);
  }
}

TEST_F(PageSegments, AreSearchedOnTheSsdAlone) {
  open(small_access("dram"));  // it changes, and does not search
  insert_ids(0, 45);
  collection_->flush();
  EXPECT_THAT(tests::message_of([&] { (void)only().segment->records().load(); }),
              HasSubstr("use --tier ssd"));
  CollectionAccess searching = small_access("dram");
  searching.link = true;
  EXPECT_THAT(tests::message_of([&] { open(searching); }), HasSubstr("use --tier ssd"));
  EXPECT_THAT(
      tests::message_of([&] { CollectionReader reader(path(), small_segments("emulated:rdma")); }),
      HasSubstr("tier emulated:rdma"));
}

/// Neither a writer nor a reader takes nodes for them, whatever the tier.
TEST_F(PageSegments, AreRefusedOnMemoryNodesByName) {
  SegmentNodesOptions options;
  options.nodes = {rpc::parse_address("127.0.0.1:1")};
  CollectionAccess access = on_ssd();
  access.segments.nodes = std::make_shared<const SegmentNodes>(options);
  const auto says = AllOf(HasSubstr("slotted pages, which memory nodes do not hold"),
                          HasSubstr("leave their nodes out"));
  for (const bool link : {false, true}) {
    access.link = link;
    EXPECT_THAT(tests::message_of([&] { open(access); }), says);
  }
  open(on_ssd());
  insert_ids(0, 45);
  collection_->flush();
  EXPECT_THAT(tests::message_of([&] { CollectionReader reader(path(), access.segments); }), says);
}

TEST_F(PageSegments, ADamagedSegmentIsRefused) {
  open(on_ssd());
  insert_ids(0, 45);
  collection_->flush();
  const std::filesystem::path records =
      only().segment->folder().directory().region_path(layout::kRecordsRegion);
  collection_.reset();
  std::filesystem::resize_file(records, std::filesystem::file_size(records) - 1);
  EXPECT_THAT(tests::message_of([&] { CollectionReader reader(path(), small_segments("ssd")); }),
              HasSubstr(records.string()));
}

TEST_F(PageSegments, MoreResultsThanThereAreAndNone) {
  open(on_ssd());
  EXPECT_TRUE(search_view(collection_->view(), random_row(random_), 10).ids.empty());
  insert_ids(7, 10);
  collection_->flush();
  EXPECT_EQ(search_view(collection_->view(), random_row(random_), 100).ids.size(), 3u);
  erase_ids({7, 8, 9});
  EXPECT_TRUE(search_view(collection_->view(), random_row(random_), 10).ids.empty());
}

TEST_F(PageSegments, EqualRowsAreAllFound) {
  open(on_ssd());
  Batch batch;
  const std::vector<float> row = random_row(random_);
  for (std::uint64_t id = 0; id < 20; ++id) batch.add(id, row);
  for (std::uint64_t id = 0; id < 20; ++id) rows_[id] = row;
  (void)insert(*collection_, batch);
  collection_->flush();
  const Answer answer = search_view(collection_->view(), row, 20);
  std::vector<std::uint64_t> ids = answer.ids;
  std::sort(ids.begin(), ids.end());
  for (std::uint64_t id = 0; id < 20; ++id) EXPECT_EQ(ids.at(id), id);
}

/// The budget holds a few records of each segment.
TEST_F(PageSegments, OneBudgetIsNeverExceededWhateverHappens) {
  const auto pools = std::make_shared<slotted::PoolBudget>(6'000'000);
  CollectionAccess access = on_ssd(pools);
  access.link = true;
  open(access);
  std::size_t most = 0;
  std::size_t segments = 0;
  for (int i = 0; i < 120; ++i) {
    change_somehow(access);
    if (!rows_.empty()) expect_same();
    EXPECT_LE(pools->used(), pools->bytes());
    most = std::max(most, pools->used());
    segments = std::max(segments, collection_->view()->segments.size());
  }
  EXPECT_GT(segments, 1u);
  EXPECT_GT(most, 0u);
  collection_.reset();
  EXPECT_EQ(pools->used(), 0u) << "nothing is left behind";
}

TEST_F(PageSegments, ABudgetThatDoesNotSufficeSaysWhatToDo) {
  open(on_ssd());
  for (std::uint64_t i = 0; i < 2; ++i) {
    insert_ids(60 * i, 60 * i + 60);
    collection_->flush();
  }
  SegmentAccess access = small_segments("ssd");
  access.shape.pools = std::make_shared<slotted::PoolBudget>(1000);
  EXPECT_THAT(tests::message_of([&] { CollectionReader reader(path(), access); }),
              HasSubstr("use --memory-budget"));
  EXPECT_EQ(access.shape.pools->used(), 0u);
}

/// What was inserted stays in the memtable, and becomes a segment once there is room.
TEST_F(PageSegments, AWriterWithoutRoomForASegmentLosesNothing) {
  CollectionAccess access = on_ssd(std::make_shared<slotted::PoolBudget>(1000));
  access.link = true;
  open(access);
  insert_ids(0, 45);
  EXPECT_THAT(tests::message_of([&] { collection_->flush(); }), HasSubstr("use --memory-budget"));
  expect_same();
  EXPECT_TRUE(collection_->view()->segments.empty());
  access.segments.shape.pools = std::make_shared<slotted::PoolBudget>(6'000'000);
  open(access);
  collection_->flush();
  expect_same();
  EXPECT_EQ(only().segment->rows(), 45u);
}

/// A client of a node hears the same reason.
TEST_F(PageSegments, AnInsertThatABudgetKeepsWaitingHearsWhatIsNeeded) {
  CollectionAccess access = on_ssd(std::make_shared<slotted::PoolBudget>(1000));
  access.link = true;
  access.most_frozen = 1;
  open(access);
  const Batch batch = new_rows(0, 400);
  Receipt receipt;
  std::string reason;
  try {
    collection_->insert({batch.rows(), batch.ids()}, within(1e6), receipt);
  } catch (const changes::Refusal& refusal) {
    EXPECT_EQ(refusal.code, StatusCode::resource_exhausted);
    reason = refusal.reason;
  }
  EXPECT_LT(receipt.done, 400u);
  EXPECT_THAT(reason, HasSubstr("a memory budget of 1000 bytes is too small"));
  EXPECT_THAT(reason, HasSubstr("use --memory-budget"));
}

/// Rows so wide that records hold codes, with the vectors beside them, and dimensions are odd.
TEST(WidePageSegments, AnswerByTheirVectors) {
  const tests::TemporaryFolder folder;
  layout::CollectionManifest shape = small_page_shape();
  shape.dimension = 601;
  shape.options.code_bits = std::nullopt;
  Collection::create(folder.path() / "set", shape);
  Collection collection(folder.path() / "set", on_ssd());
  Random random(3);
  std::vector<float> data(90 * shape.dimension);
  for (float& x : data) x = static_cast<float>(random.uniform());
  std::vector<std::uint64_t> ids;
  for (std::uint64_t id = 0; id < 90; ++id) ids.push_back(1000 + id);
  const VectorView rows = packed_view(data.data(), 90, shape.dimension, ElementType::f32);
  for (std::size_t half = 0; half < 2; ++half) {
    changes::Receipt receipt;
    const VectorView part = packed_view(rows.row(45 * half), 45, shape.dimension, ElementType::f32);
    collection.insert({part, std::span(ids).subspan(45 * half, 45)}, within(kPatienceUs), receipt);
    collection.flush();
  }
  collection.compact();
  ASSERT_EQ(collection.view()->segments.size(), 1u);
  const layout::Manifest& manifest = collection.view()->segments.front().segment->manifest();
  EXPECT_EQ(manifest.slotted().payload, layout::PayloadKind::code);
  const auto kernel = distance::pair_kernel(Metric::l2, ElementType::f32, shape.dimension);
  for (std::size_t q = 0; q < 90; q += 13) {
    const auto* query = reinterpret_cast<const float*>(rows.row(q));
    std::vector<std::pair<float, std::uint64_t>> exact;
    for (std::size_t r = 0; r < 90; ++r) {
      exact.emplace_back(kernel(query, rows.row(r), shape.dimension), ids[r]);
    }
    std::sort(exact.begin(), exact.end());
    const Answer answer =
        search_view(collection.view(), std::vector<float>(query, query + shape.dimension), 5);
    ASSERT_EQ(answer.ids.size(), 5u);
    for (std::size_t r = 0; r < 5; ++r) {
      EXPECT_EQ(answer.ids[r], exact[r].second);
      EXPECT_EQ(answer.distances[r], exact[r].first);
    }
  }
}

}  // namespace
}  // namespace farvec::collection::of_pages
