// Searches with conditions, and attributes, of collections that are read from memory nodes alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/collection/attributes_on_nodes_fixture.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::message_of;

class AttributesOnTier : public AttributesOnNodes,
                         public ::testing::WithParamInterface<std::string> {
 protected:
  AttributesOnTier() { tier_ = GetParam(); }
};

TEST_P(AttributesOnTier, AreThoseOfTheRows) {
  start_all(2);
  open_on_nodes(access());
  fill();
  expect_all(read());
  settle();
  expect_all(read());
  collection_->compact();
  const ViewPointer merged = read();
  EXPECT_EQ(size_of(*merged).updated, 0u) << "a compaction writes updates into the segment";
  expect_all(merged);
}

TEST_P(AttributesOnTier, AreReadFromAnotherCopyWhereANodeIsLost) {
  start_all(2);
  open_on_nodes(access());
  fill();
  settle();
  const ViewPointer before = read();
  expect_all(before);
  end_writer();
  nodes_[0].reset();
  EXPECT_TRUE(comes([&] { return searches_go_on(before); }));
  expect_all(before);
}

INSTANTIATE_TEST_SUITE_P(Tiers, AttributesOnTier, ::testing::Values("shm", "fabric:tcp"),
                         [](const auto& tier) {
                           return tier.param == "fabric:tcp" ? "fabric" : tier.param;
                         });

TEST_F(AttributesOnNodes, AreFollowed) {
  start_all(2);
  open_on_nodes(access());
  insert_rows(0, 30, 0);
  const auto follower = follow();
  const auto expect_followed = [&] {
    const std::uint64_t version = collection_->view()->version;
    const layout::Schema& schema = schema_;
    ASSERT_TRUE(comes([&] {
      const ViewPointer view = follower->view();
      return view->version >= version && *view->schema == schema;
    })) << follower->state().failure;
    expect_all(follower->view());
  };
  for (std::uint64_t round = 0; round < 8; ++round) {
    insert_rows(round * 20, round * 20 + 45, round);
    update_prices(round * 10, round * 10 + 15, -std::int64_t(round));
    if (round % 3 == 1) collection_->flush();
    if (round == 3) add_column("rating: f64");
    if (round == 5) collection_->compact();
    if (round == 6) open(access());
    erase_rows({round * 11, round * 11 + 5});
    ASSERT_NO_FATAL_FAILURE(expect_followed()) << round;
  }
  settle();
  expect_followed();
  EXPECT_TRUE(comes([&] { return follower->state().failure.empty(); }));
}

/// Segments that are older than the first column have no attributes, and no file of them.
class ColumnsOnNodes : public AttributesOnNodes {
 protected:
  ColumnsOnNodes() : AttributesOnNodes(small_shape()) {}
};

TEST_F(ColumnsOnNodes, MayComeAfterTheRows) {
  start_all(1);
  open_on_nodes(access());
  insert_rows(0, 60, 0);
  settle();
  const auto follower = follow();
  for (const char* column : {"price: i64", "name: string", "tags: set"}) add_column(column);
  update_prices(50, 55, -9);
  collection_->flush();
  expect_all(read());
  insert_rows(40, 110, 1);
  settle();
  expect_all(read());
  const std::uint64_t version = collection_->view()->version;
  ASSERT_TRUE(comes([&] { return follower->view()->version >= version; }));
  expect_all(follower->view());
}

/// Kinds of segments in which it has to be learned where each row is.
class KindsOnNodes : public AttributesOnNodes,
                     public ::testing::WithParamInterface<layout::CollectionManifest> {
 protected:
  KindsOnNodes() : AttributesOnNodes(with_schema(GetParam(), kSchema)) {}
};

TEST_P(KindsOnNodes, AnswerAsInTheFolder) {
  start_all(1);
  open_on_nodes(access());
  fill();
  settle();
  const ViewPointer there = read();
  expect_all(there);
  const auto log = logs();
  (void)log->refresh();
  const CollectionReader here(path(), small_segments(), {.log_nodes = log});
  for (const char* text : kAsked) {
    const auto condition = attributes::parse_condition(text, schema_);
    const std::vector<float> query = random_row(random_);
    const Answer expected = search_view(here.view(), query, 5, 20, {condition.get()});
    const Answer answer = search_view(there, query, 5, 20, {condition.get()});
    EXPECT_EQ(answer.ids, expected.ids) << text;
    EXPECT_EQ(answer.counts.scans, expected.counts.scans) << text;
    EXPECT_EQ(answer.counts.distances, expected.counts.distances) << text;
    EXPECT_LE(answer.counts.reads, expected.counts.reads) << text << ": some are shared";
  }
}

layout::CollectionManifest packed_shape() {
  layout::CollectionManifest shape = small_shape();
  shape.options.layout = layout::LayoutKind::packed;
  return shape;
}

INSTANTIATE_TEST_SUITE_P(Shapes, KindsOnNodes,
                         ::testing::Values(small_shape(), packed_shape(), small_cluster_shape()));

TEST_F(AttributesOnNodes, ThatAreDamagedAreReadFromAnotherCopyOrRefused) {
  start_all(2);
  open_on_nodes(access());
  insert_rows(0, 40, 0);
  settle();
  end_writer_and_keep_files();
  ASSERT_EQ(files_.size(), 1u);
  const std::uint64_t number = files_.begin()->first;
  const ViewPointer before = read();
  load_damaged_attributes(number % 2);  // the one that is read first
  // Its columns come from the other copy, and single tuples too.
  const ViewPointer view = read();
  EXPECT_TRUE(comes([&] { return nodes_[0]->leases() >= 2 && nodes_[1]->leases() >= 2; }))
      << "both views have both copies";
  expect_all(view);
  load_damaged_attributes((number + 1) % 2);
  EXPECT_THAT(message_of([&] { (void)read(); }),
              AllOf(HasSubstr("attributes of segment " + std::to_string(number)),
                    HasSubstr("damaged"), HasSubstr(address(0)), HasSubstr(address(1))));
  expect_all(before);  // which has leases on what was there
}

TEST_F(AttributesOnNodes, ASegmentWithoutThemIsReplaced) {
  start_all(1);
  open_on_nodes(access());
  insert_rows(0, 40, 0);
  settle();
  end_writer_and_keep_files();
  const std::uint64_t number = files_.begin()->first;
  tiers::SegmentHost::SegmentPaths files = files_.begin()->second;
  const std::uint64_t checksum = files.contents.attributes;
  files.attributes_bytes = files.contents.attributes = 0;  // as an older writer loads it
  host(0).load({number_, number}, files);
  EXPECT_THAT(message_of([&] { (void)read(); }), HasSubstr("runs an older farvec"));
  open(access());
  EXPECT_TRUE(comes([&] { return host(0).list(number_)[number].attributes == checksum; }));
  expect_all(read());
}

TEST_F(AttributesOnNodes, TakeTheirBytesOfANode) {
  start_all(1);
  open_on_nodes(access());
  insert_rows(0, 40, 0);
  settle();
  const auto files = paths_of(*collection_->view()->segments.front().segment);
  EXPECT_EQ(files.attributes_bytes, std::filesystem::file_size(files.attributes));
  EXPECT_TRUE(comes([&] {
    return nodes_[0]->segment_bytes() ==
           files.index_bytes + files.ids_bytes + files.attributes_bytes +
               std::filesystem::file_size(path() / layout::kCatalogueFile);
  }));
}

TEST_F(AttributesOnNodes, AreSaidWhereEveryNodeIsGone) {
  start_all(1);
  open_on_nodes(access());
  insert_rows(0, 40, 0);
  settle();
  const ViewPointer view = read();
  end_writer();
  nodes_[0].reset();
  EXPECT_TRUE(comes([&] { return !message_of([&] { expect_listed(view); }).empty(); }));
}

}  // namespace
}  // namespace farvec::collection
