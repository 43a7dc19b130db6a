// Segments on memory nodes: searched there, while nodes come and go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "attributes/condition.h"
#include "collection/read/collection_follower.h"
#include "collection/read/collection_reader.h"
#include "collection/read/collection_source.h"
#include "collection/segment/segment_folder.h"
#include "tests/unit/collection/nodes_fixture.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

using ::testing::HasSubstr;
using tests::message_of;

class SegmentsOnTier : public SegmentsOnNodes, public ::testing::WithParamInterface<std::string> {
 protected:
  SegmentsOnTier() { tier_ = GetParam(); }
};

/// Readers of the folder have its attributes; others have those of the nodes.
class AttributesBesideNodes : public SegmentsOnNodes {
 protected:
  static layout::CollectionManifest attributed() {
    layout::CollectionManifest shape = small_shape();
    shape.schema = layout::parse_schema("price: i64");
    return shape;
  }
  AttributesBesideNodes() : SegmentsOnNodes(attributed()) {}

  tiers::AttachOptions host_options() const {
    tiers::AttachOptions options;
    options.memory_node = addresses(1).front();
    return options;
  }

  /// The price of a row is the last digit of its id.
  void insert_priced(std::uint64_t begin, std::uint64_t end) {
    Batch batch;
    layout::Tuples tuples;
    for (std::uint64_t id = begin; id < end; ++id) {
      rows_[id] = random_row(random_);
      batch.add(id, rows_[id]);
      tuples.append(collection_->shape().schema,
                    std::vector<layout::Value>{static_cast<std::int64_t>(id % 10)});
    }
    Receipt receipt;
    collection_->insert({batch.rows(), batch.ids(), tuples.view()}, within(kPatienceUs), receipt);
    EXPECT_EQ(receipt.done, end - begin);
  }
  /// Searches find the nearest of the rows with a price below 3.
  void expect_cheap(const ViewPointer& view) {
    Rows cheap;
    for (const auto& [id, row] : rows_) {
      if (id % 10 < 3) cheap[id] = row;
    }
    const auto condition = attributes::parse_condition("price < 3", attributed().schema);
    for (int i = 0; i < 10; ++i) {
      const std::vector<float> query = random_row(random_);
      const auto expected = exact(cheap, Metric::l2, query);
      const Answer answer = search_view(view, query, 20, kAll, {condition.get()});
      ASSERT_EQ(answer.ids.size(), 20u);
      for (std::size_t r = 0; r < 20; ++r) EXPECT_EQ(answer.ids[r], expected[r].second);
      EXPECT_LE(answer.counts.reads, cheap.size()) << "rows that fail are not read";
    }
  }
};

TEST_F(AttributesBesideNodes, SearchesOfNodesMeetTheCondition) {
  start(0);
  open_on(1);
  insert_priced(0, 200);
  collection_->flush();
  insert_priced(150, 260);
  collection_->flush();
  collection_->settle();
  ASSERT_TRUE(comes([&] { return is_spread(1, 1); }));
  const ViewPointer view = collection_->view();
  for (const View::Bulk& bulk : view->segments) bulk.segment->records().load();
  expect_cheap(view);
  const CollectionReader there(path(), segments_on(1));
  expect_cheap(there.view());
  collection_->compact();
  expect_cheap(collection_->view());
}

TEST_F(AttributesBesideNodes, AReaderWithoutTheFolderMeetsTheConditionToo) {
  start(0);
  open_on(1);
  insert_priced(0, 200);
  collection_->flush();
  collection_->settle();
  ASSERT_TRUE(comes([&] { return !tiers::SegmentHost(host_options()).catalogues().empty(); }));
  collection_.reset();
  const auto source = nodes_collection(segments_on(1).nodes, "set");
  const SegmentAccess access = segments_on(1);
  std::vector<View::Bulk> segments;
  (void)source->manifest();
  segments = source->open(access, {}, {});
  for (const View::Bulk& bulk : segments) bulk.segment->records().load();
  View view;
  view.segments = segments;
  expect_cheap(std::make_shared<const View>(view));
}

TEST_P(SegmentsOnTier, HaveEveryChangeAndNothingElse) {
  for (std::size_t i = 0; i < kNodes; ++i) start(i);
  open_on(kNodes);
  CollectionAccess access = small_access();
  access.segments = segments_on(kNodes);
  access.link = true;
  for (int i = 0; i < (tier_ == "shm" ? 40 : 20); ++i) {
    change_somehow(access);
    if (i % 4 == 0) {
      const ViewPointer view = collection_->view();
      for (const View::Bulk& bulk : view->segments) bulk.segment->records().load();
      expect_same();
    }
  }
  collection_->flush();
  collection_->settle();
  expect_same();
  EXPECT_TRUE(comes([&] { return is_spread(kNodes, 2); }));
  EXPECT_EQ(collection_->state().failure, "");
  collection_->compact();
  expect_same();
  EXPECT_TRUE(comes([&] { return is_spread(kNodes, 2); }));
}

TEST_P(SegmentsOnTier, AnswerAndCountAsInThisProcess) {
  start(0);
  open_on(1);
  insert_ids(0, 400);
  erase_some();
  collection_->flush();
  collection_->settle();
  CollectionReader here(path(), small_segments());
  const CollectionReader there(path(), segments_on(1));
  ASSERT_FALSE(here.view()->segments.empty());
  for (int i = 0; i < 20; ++i) {
    const std::vector<float> query = random_row(random_);
    for (const std::uint32_t list : {10u, 40u}) {
      const Answer expected = search_view(here.view(), query, 10, list);
      const Answer answer = search_view(there.view(), query, 10, list);
      EXPECT_EQ(answer.ids, expected.ids);
      EXPECT_EQ(answer.distances, expected.distances);
      EXPECT_EQ(answer.counts.reads, expected.counts.reads);
      EXPECT_EQ(answer.counts.bytes, expected.counts.bytes);
      EXPECT_EQ(answer.counts.hops, expected.counts.hops);
      EXPECT_EQ(answer.counts.distances, expected.counts.distances);
      EXPECT_EQ(answer.counts.lost, 0u);
    }
  }
}

TEST_P(SegmentsOnTier, AFollowerReadsThem) {
  start(0);
  start(1);
  open_on(2);
  insert_ids(0, 120);
  collection_->flush();
  const CollectionFollower follower(path(), segments_on(2),
                                    {.poll_us = 500, .manifest_us = 2'000, .retry_us = 5'000});
  for (std::uint64_t id = 100; id < 400; id += 60) {
    insert_ids(id, id + 60);
    collection_->flush();
    const std::uint64_t version = collection_->view()->version;
    ASSERT_TRUE(comes([&] { return follower.view()->version >= version; }));
    expect_holds(follower.view(), rows_, random_);
  }
  EXPECT_TRUE(comes([&] { return follower.state().switches > 0; }));
  EXPECT_TRUE(comes([&] { return follower.state().failure.empty(); })) << follower.state().failure;
}

TEST_P(SegmentsOnTier, OneNodeMayGoAndComeBack) {
  start(0);
  start(1);
  open_on(2);
  insert_ids(0, 200);
  collection_->flush();
  collection_->settle();
  ASSERT_TRUE(comes([&] { return is_spread(2, 2) && is_attached(1); }));
  nodes_[0].reset();
  EXPECT_TRUE(comes([&] { return searches_go_on(collection_->view()); }));
  expect_same();
  insert_ids(150, 300);
  collection_->flush();
  collection_->settle();
  expect_same();
  ASSERT_TRUE(comes([&] { return !collection_->state().failure.empty(); }));
  EXPECT_THAT(collection_->state().failure, HasSubstr("is on 1 of 2 memory nodes"));
  EXPECT_THAT(collection_->state().failure, HasSubstr(address(0)));
  start(0);
  EXPECT_TRUE(comes([&] { return is_spread(2, 2) && is_attached(0); }));
  EXPECT_TRUE(comes([&] { return collection_->state().failure.empty(); }));
  nodes_[1].reset();
  EXPECT_TRUE(comes([&] { return searches_go_on(collection_->view()); }));
  expect_same();
}

TEST_F(SegmentsOnNodes, WithoutAnyNodeNothingIsLost) {
  start(0);
  open_on(1);
  insert_ids(0, 120);
  collection_->flush();
  nodes_[0].reset();
  insert_ids(120, 140);
  EXPECT_TRUE(comes(
      [&] { return status_of_search(collection_->view()).code() == StatusCode::unavailable; }));
  EXPECT_THAT(message_of([&] { collection_->flush(); }), HasSubstr("memory node"));
  EXPECT_GT(size_of(*collection_->view()).fresh, 0u) << "the memtable stays";
  EXPECT_EQ(size_of(*collection_->view()).live, rows_.size());
  EXPECT_NE(collection_->state().failure, "");
  start(0);
  // A look at the nodes comes first.
  EXPECT_TRUE(comes([&] { return message_of([&] { collection_->flush(); }).empty(); }));
  EXPECT_TRUE(comes([&] { return status_of_search(collection_->view()).ok(); }));
  expect_same();
  EXPECT_TRUE(comes([&] { return is_spread(1, 1); }));
  EXPECT_TRUE(comes([&] { return collection_->state().failure.empty(); }));
}

TEST_F(SegmentsOnNodes, AFullNodeIsSaidAndNothingIsLost) {
  start(0, 40'000);
  open_on(1);
  std::uint64_t id = 0;
  const auto fills = [&] {
    insert_ids(id, id + 40);
    id += 40;
    return !message_of([&] { collection_->flush(); }).empty();
  };
  for (int i = 0; i < 100 && !fills(); ++i) {
  }
  EXPECT_THAT(collection_->state().failure, HasSubstr("--segment-bytes"));
  expect_same();
  nodes_[0].reset();
  start(0);
  EXPECT_TRUE(comes([&] { return message_of([&] { collection_->flush(); }).empty(); }));
  EXPECT_TRUE(comes([&] { return status_of_search(collection_->view()).ok(); }));
  expect_same();
}

TEST_F(SegmentsOnNodes, WhatAKilledWriterLeftIsReplacedOrDropped) {
  start(0);
  start(1);
  open_on(2);
  insert_ids(0, 60);
  collection_->flush();
  collection_->settle();
  open_on(2);  // the manifest has a number by now
  const std::uint64_t collection = collection_->shape().segments_on_nodes;
  ASSERT_NE(collection, 0u);
  const Segment& segment = *collection_->view()->segments[0].segment;
  const std::filesystem::path folder = segment.folder().directory().path();
  const tiers::SegmentHost::SegmentPaths other{
      .index = folder,
      .index_bytes = 1,
      .ids = folder / layout::kSegmentIdsFile,
      .ids_bytes = std::filesystem::file_size(folder / layout::kSegmentIdsFile),
      .contents = paths_of(segment).contents};
  const layout::CollectionManifest manifest = layout::read_collection(path());
  const std::uint64_t next = manifest.next_segment;
  const auto as = [&](std::uint64_t number) {
    return renumbered(other, manifest.segments[0], number);
  };
  collection_.reset();
  // As if it had published two segments, of which no manifest knows.
  tiers::AttachOptions options;
  options.memory_node = rpc::parse_address(address(1));
  tiers::SegmentHost host(options);
  host.load({collection, next}, as(next));
  host.load({collection, next + 7}, as(next + 7));
  host.load({collection + 1, next}, as(next));  // another's
  open_on(2);
  insert_ids(60, 110);
  collection_->flush();
  expect_same();
  EXPECT_TRUE(comes([&] { return is_spread(2, 2); }));
  EXPECT_EQ(host.list(collection + 1).size(), 1u) << "another collection's stay";
}

TEST_F(SegmentsOnNodes, GoWithTheirLastReader) {
  start(0);
  open_on(1);
  insert_ids(0, 150);
  collection_->flush();
  collection_->settle();
  auto reader = std::make_unique<CollectionReader>(path(), segments_on(1));
  const Rows before = rows_;
  insert_ids(50, 200);
  collection_->compact();
  EXPECT_TRUE(comes([&] { return is_spread(1, 1); }));
  const std::uint64_t both = nodes_[0]->segment_bytes();
  ViewPointer old = reader->view();
  EXPECT_EQ(size_of(*old).live, before.size());
  expect_holds(old, before, random_);
  const Segment& merged = *collection_->view()->segments[0].segment;
  const std::uint64_t one =
      merged.manifest().node_bytes(0) +
      std::filesystem::file_size(merged.folder().directory().path() / layout::kSegmentIdsFile) +
      std::filesystem::file_size(path() / layout::kCatalogueFile);
  EXPECT_GT(both, one);
  reader.reset();
  old.reset();
  EXPECT_TRUE(comes([&] { return nodes_[0]->segment_bytes() == one; }));
}

TEST_F(SegmentsOnNodes, AFollowerIsToldWhereTheyAreNot) {
  open();
  insert_ids(0, 60);
  collection_->flush();
  EXPECT_THAT(message_of([&] { const CollectionReader reader(path(), segments_on(1)); }),
              HasSubstr("--segment-nodes"));
  SegmentNodesOptions options;
  EXPECT_THAT(message_of([&] { const SegmentNodes none(options); }), HasSubstr("no memory node"));
  options.nodes.push_back(rpc::parse_address(address(0)));
  options.copies = 2;
  EXPECT_THAT(message_of([&] { const SegmentNodes none(options); }), HasSubstr("do not fit"));
}

INSTANTIATE_TEST_SUITE_P(Tiers, SegmentsOnTier, ::testing::Values("shm", "fabric:tcp"),
                         [](const auto& tier) {
                           return tier.param == "fabric:tcp" ? "fabric" : tier.param;
                         });

}  // namespace
}  // namespace farvec::collection
