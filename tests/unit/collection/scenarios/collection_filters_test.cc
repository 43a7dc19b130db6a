// Searches of collections among the rows that meet a condition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "attributes/condition.h"
#include "collection/read/collection_reader.h"
#include "tests/unit/collection/attributed_fixture.h"

namespace farvec::collection {
namespace {

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

TEST_F(FilteredCollection, FindsTheNearestThatMeetAConditionWhereSegmentsHaveSecondCopies) {
  layout::CollectionManifest packed = small_shape();
  packed.options.layout = layout::LayoutKind::packed;
  const layout::ReductionWish bits{.type = ElementType::b1, .rule = BitRule::mean};
  const layout::ReductionWish bytes{.type = ElementType::i8};
  for (const auto& shape : {reduced(small_shape(), bits), reduced(packed, bytes),
                            reduced(small_cluster_shape(), bits)}) {
    collection_.reset();
    std::filesystem::remove_all(path());
    expected_.clear();
    fill(shape);
    ASSERT_TRUE(collection_->flush());
    expect_filtered(collection_->view());
    ASSERT_TRUE(collection_->compact());
    insert(500, 530, 2);
    expect_filtered(collection_->view());
    open();
    expect_filtered(collection_->view());
    expect_attributes();
    const CollectionReader reader(path(), small_segments("emulated:rdma"));
    expect_filtered(reader.view());
  }
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
        search_view(collection_->view(), random_row(random_), 3, 3, {condition.get()});
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
      search_view(collection_->view(), random_row(random_), 3, 1, {condition.get()});
  EXPECT_EQ(answer.counts.distances, rows);
  EXPECT_EQ(answer.counts.matches, rows);
  EXPECT_EQ(answer.counts.group_reads + answer.counts.list_reads, 0u);
}

/// Half of the rows match. A search of them that may choose compares them, since they are few.
TEST_F(FilteredCollection, TellsHowEachSegmentWasSearched) {
  fill(small_shape());
  ASSERT_TRUE(collection_->flush());
  const ViewPointer view = collection_->view();
  const std::size_t segments = view->segments.size();
  ASSERT_GT(segments, 1u);
  const auto condition = attributes::parse_condition("tags contains any ('t0', 't1')", schema_);
  const std::vector<float> query = random_row(random_);
  const auto counts = [&](const Manner& manner) {
    return search_view(view, query, 5, 20, manner).counts;
  };
  using search::FilterPlan;
  EXPECT_EQ(counts({}).walks, segments);
  EXPECT_EQ(counts({}).scans, 0u);
  EXPECT_EQ(counts({condition.get(), FilterPlan::walk}).walks, segments);
  EXPECT_EQ(counts({condition.get(), FilterPlan::walk}).scans, 0u);
  for (const Manner& scan :
       {Manner{condition.get()}, Manner{condition.get(), FilterPlan::scan},
        Manner{condition.get(), FilterPlan::walk, true}, Manner{.exact = true}}) {
    const search::QueryCounts told = counts(scan);
    EXPECT_EQ(told.walks, 0u);
    EXPECT_EQ(told.scans, segments);
    EXPECT_EQ(told.hops, 0u);
    const std::uint64_t rows = scan.condition != nullptr ? told.matches : view->live();
    EXPECT_EQ(scan.exact, told.distances >= rows) << told.distances << " of " << rows;
  }
}

TEST_F(FilteredCollection, MayAskForIdsWhereRowsHaveNoAttributes) {
  create("");
  Batch batch;
  for (std::uint64_t id = 0; id < 70; ++id) batch.add(id, random_row(random_));
  AttributedCollection::insert({batch.rows(), batch.ids()});
  ASSERT_TRUE(collection_->flush());
  const auto condition = attributes::parse_condition("id between 20 and 24 or id = 69", schema_);
  const Answer answer =
      search_view(collection_->view(), random_row(random_), 10, kAll, {condition.get()});
  EXPECT_THAT(answer.ids, testing::UnorderedElementsAre(20, 21, 22, 23, 24, 69));
}

}  // namespace
}  // namespace farvec::collection
