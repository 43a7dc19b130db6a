// Readers of a collection that have memory nodes and no folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collection/read/collection_follower.h"
#include "collection/read/collection_reader.h"
#include "collection/read/collection_source.h"
#include "tests/unit/collection/on_nodes_fixture.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::message_of;

class CollectionOnTier : public CollectionOnNodes,
                         public ::testing::WithParamInterface<std::string> {
 protected:
  CollectionOnTier() { tier_ = GetParam(); }
};

TEST_P(CollectionOnTier, FollowersHaveEveryChange) {
  const bool mapped = tier_ == "shm";
  expect_every_change_followed(mapped ? 3 : 1, mapped ? 40 : 12);
}

/// Segments that are clusters.
class ClustersOnNodes : public CollectionOnNodes {
 protected:
  ClustersOnNodes() : CollectionOnNodes(small_cluster_shape()) {}
};

TEST_F(ClustersOnNodes, FollowersHaveEveryChange) {
  expect_every_change_followed(3, 40);
  const ViewPointer view = read();
  for (const View::Bulk& bulk : view->segments) EXPECT_TRUE(bulk.segment->manifest().is_cluster());
}

/// Segments that have fewer bits than the rows: nodes hold their second copies too.
class ReducedOnNodes : public CollectionOnNodes,
                       public ::testing::WithParamInterface<layout::CollectionManifest> {
 protected:
  ReducedOnNodes() : CollectionOnNodes(GetParam()) {}
};

TEST_P(ReducedOnNodes, FollowersHaveEveryChange) {
  expect_every_change_followed(3, 40);
  const ViewPointer view = read();
  for (const View::Bulk& bulk : view->segments) EXPECT_TRUE(bulk.segment->manifest().second_copy);
}

TEST_P(ReducedOnNodes, AnswersAndCountsAreThoseOfTheFolder) {
  start_all(1);
  CollectionAccess apart = access();
  apart.merge = false;
  open_on_nodes(apart);
  insert_ids(0, 400);
  collection_->flush();
  settle();
  const ViewPointer there = read();
  const auto log = logs();
  (void)log->refresh();
  const CollectionReader folder(path(), segments_on(1), {.log_nodes = log});
  for (int i = 0; i < 20; ++i) {
    const std::vector<float> query = random_row(random_);
    const Answer expected = search_view(folder.view(), query, 10, 30);
    const Answer answer = search_view(there, query, 10, 30);
    EXPECT_EQ(answer.ids, expected.ids);
    EXPECT_EQ(answer.distances, expected.distances);
    EXPECT_EQ(answer.counts.reads, expected.counts.reads);
    EXPECT_EQ(answer.counts.rerank_reads, expected.counts.rerank_reads);
    EXPECT_GT(answer.counts.rerank_reads, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, ReducedOnNodes,
                         ::testing::Values(reduced(small_shape(), {.type = ElementType::b1}),
                                           reduced(small_shape(), {.type = ElementType::i8}),
                                           reduced(small_cluster_shape(),
                                                   {.type = ElementType::b1})),
                         [](const auto& shape) {
                           return std::string(to_string(shape.param.options.kind)) + "_" +
                                  std::string(to_string(shape.param.options.store->type));
                         });

TEST_P(CollectionOnTier, AnswersAndCountsAreThoseOfTheFolder) {
  start_all(1);
  CollectionAccess apart = access();
  apart.merge = false;
  open_on_nodes(apart);
  insert_ids(0, 400);
  collection_->flush();
  erase_some();
  insert_ids(390, 420);
  settle();
  const ViewPointer there = read();
  const auto log = logs();
  (void)log->refresh();
  const CollectionReader folder(path(), segments_on(1), {.log_nodes = log});
  ASSERT_FALSE(there->segments.empty());
  ASSERT_EQ(there->segments.size(), folder.view()->segments.size());
  EXPECT_GT(size_of(*there).out, 0u);
  EXPECT_EQ(size_of(*there).out, size_of(*folder.view()).out);
  for (int i = 0; i < 20; ++i) {
    const std::vector<float> query = random_row(random_);
    const Answer expected = search_view(folder.view(), query, 10, 30);
    const Answer answer = search_view(there, query, 10, 30);
    EXPECT_EQ(answer.ids, expected.ids);
    EXPECT_EQ(answer.distances, expected.distances);
    EXPECT_EQ(answer.counts.reads, expected.counts.reads);
    EXPECT_EQ(answer.counts.bytes, expected.counts.bytes);
    EXPECT_EQ(answer.counts.distances, expected.counts.distances);
  }
}

TEST_F(CollectionOnNodes, ADeadWriterAndADeadNodeLeaveEverything) {
  start_all(3);
  open_on_nodes(access());
  insert_ids(0, 150);
  settle();
  auto follower = follow();
  insert_ids(120, 180);  // in the log alone
  expect_follows(*follower);
  collection_.reset();
  expect_holds(follower->view(), rows_, random_);
  nodes_[0].reset();
  expect_holds(read(), rows_, random_);
  EXPECT_TRUE(comes([&] { return status_of_search(follower->view()).ok(); }));
  follower.reset();
  nodes_[1].reset();
  EXPECT_THAT(message_of([&] { (void)read(); }), HasSubstr("memory node"));
}

TEST_F(CollectionOnNodes, AReaderThatWasAwayForLongerThanTheLogOpensAgain) {
  start_all(1);
  open_on_nodes(access());
  insert_ids(0, 60);
  settle();
  const auto source = this->source();
  const auto log = logs();
  (void)log->refresh();
  const auto open_again = [&] {
    return std::make_unique<CollectionReader>(*source, segments_on(1), Reading{.log_nodes = log});
  };
  auto reader = open_again();
  expect_holds(reader->view(), rows_, random_);
  for (std::uint64_t id = 0; id < 400; id += 50) {
    insert_ids(id, id + 50);
    collection_->flush();
  }
  collection_->compact();
  reader = open_again();
  expect_holds(reader->view(), rows_, random_);
}

TEST_F(CollectionOnNodes, ANodeThatComesBackIsGivenTheCatalogue) {
  start_all(3);
  open_on_nodes(access());
  insert_ids(0, 60);
  settle();
  nodes_[1].reset();
  insert_ids(60, 120);
  collection_->flush();
  EXPECT_TRUE(comes([&] { return collection_->state().failure.empty(); }))
      << collection_->state().failure;
  start(1);
  const std::uint64_t newest = layout::read_collection(path()).revision;
  EXPECT_GT(newest, 1u);
  EXPECT_TRUE(comes([&] {
    const auto held = host(1).catalogues();
    return held.size() == 1 && held[0].revision == layout::read_collection(path()).revision;
  }));
  EXPECT_EQ(host(1).catalogues()[0].name, "set");
}

TEST_F(CollectionOnNodes, ManifestsHaveRevisionsThatGrow) {
  start_all(1);
  std::uint64_t before = 0;
  for (std::uint64_t n = 1; n < 5; ++n) {
    open_on_nodes(access());
    insert_ids(10 * n, 10 * n + 20);
    collection_->flush();
    const std::uint64_t now = layout::read_collection(path()).revision;
    EXPECT_GT(now, before);
    before = now;
  }
}

TEST_F(CollectionOnNodes, IsFoundByItsNameOrNumber) {
  start_all(1);
  open_on_nodes(access());
  insert_ids(0, 60);
  settle();
  const auto number = fmt::format("{:016x}", collection_->shape().segments_on_nodes);
  for (const std::string& name : {std::string(), std::string("set"), number}) {
    EXPECT_EQ(source(name)->manifest(), layout::read_collection(path())) << name;
  }
  EXPECT_THAT(message_of([&] { (void)source("other")->manifest(); }),
              AllOf(HasSubstr("'nodes:other'"), HasSubstr("they have set")));
  end_writer();
  // Another one of the same name.
  load_damaged_catalogue(0, number_ + 1, 1, 100);
  for (const std::string& name : {std::string(), std::string("set")}) {
    EXPECT_THAT(message_of([&] { (void)source(name)->manifest(); }),
                AllOf(HasSubstr("name it by its number"), HasSubstr(number)));
  }
  EXPECT_EQ(source(number)->manifest(), layout::read_collection(path()));
}

TEST_F(CollectionOnNodes, WithALogInItsFolderIsRefused) {
  start_all(1);
  CollectionAccess in_folder = access();
  in_folder.log_nodes = nullptr;
  open(in_folder);
  insert_ids(0, 60);
  collection_->flush();
  ASSERT_TRUE(comes([&] { return !host(0).catalogues().empty(); }));
  EXPECT_THAT(message_of([&] { (void)read(); }), HasSubstr("--log-nodes"));
}

INSTANTIATE_TEST_SUITE_P(Tiers, CollectionOnTier, ::testing::Values("shm", "fabric:tcp"),
                         [](const auto& tier) {
                           return tier.param == "fabric:tcp" ? "fabric" : tier.param;
                         });

}  // namespace
}  // namespace farvec::collection
