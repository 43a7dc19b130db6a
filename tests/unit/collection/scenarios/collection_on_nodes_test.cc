// Readers of a collection that have memory nodes and no folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>

#include "collection/read/collection_follower.h"
#include "collection/read/collection_reader.h"
#include "collection/read/collection_source.h"
#include "layout/collection/catalogue.h"
#include "tests/unit/collection/nodes_fixture.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::message_of;

class CollectionOnNodes : public SegmentsOnNodes {
 protected:
  explicit CollectionOnNodes(const layout::CollectionManifest& shape = small_shape())
      : SegmentsOnNodes(shape) {
    log_bytes_ = std::uint64_t{32} << 20;
  }

  void start_all(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) start(i);
    count_ = count;
  }
  std::shared_ptr<LogNodes> logs() const {
    LogNodesOptions options;
    options.nodes = addresses(count_);
    options.attach = attach_options();
    return std::make_shared<LogNodes>(std::move(options));
  }
  /// Until the nodes have its catalogue.
  void open_on_nodes(const CollectionAccess& access) {
    open(access);
    EXPECT_TRUE(comes([&] { return !host(count_ - 1).catalogues().empty(); }));
  }
  CollectionAccess access() const {
    CollectionAccess access = small_access();
    access.segments = segments_on(count_);
    access.log_nodes = logs();
    access.durability = wal::Durability::commit;
    access.link = true;
    return access;
  }
  std::shared_ptr<CollectionSource> source(const std::string& name = "set") const {
    return nodes_collection(segments_on(count_).nodes, name);
  }
  std::unique_ptr<CollectionFollower> follow() const {
    return std::make_unique<CollectionFollower>(source(), segments_on(count_),
                                                FollowOptions{.poll_us = 500,
                                                              .manifest_us = 5'000,
                                                              .retry_us = 5'000,
                                                              .link = true,
                                                              .log_nodes = logs()});
  }
  /// What a reader that begins now sees.
  ViewPointer read() const {
    const auto log = logs();
    (void)log->refresh();
    CollectionReader reader(*source(), segments_on(count_), {.log_nodes = log});
    return reader.view();
  }
  void expect_follows(const CollectionFollower& follower) {
    const std::uint64_t version = collection_->view()->version;
    ASSERT_TRUE(comes([&] { return follower.view()->version >= version; }))
        << follower.view()->version << " of " << version << " " << follower.state().failure;
    expect_holds(follower.view(), rows_, random_);
  }
  /// By one that begins with nothing and one that begins later.
  void expect_every_change_followed(std::size_t nodes, int changes) {
    start_all(nodes);
    open_on_nodes(access());
    const auto first = follow();
    std::unique_ptr<CollectionFollower> second;
    for (int i = 0; i < changes; ++i) {
      change_somehow(access());
      if (i == 8) second = follow();
      if (i % 5 == 4) expect_follows(*first);
      if (i % 8 == 7 && second != nullptr) expect_follows(*second);
    }
    settle();
    expect_follows(*first);
    expect_follows(*second);
    expect_holds(read(), rows_, random_);
    EXPECT_TRUE(comes([&] { return first->state().switches > 0; }));
    EXPECT_TRUE(comes([&] { return first->state().failure.empty(); })) << first->state().failure;
    collection_->compact();
    EXPECT_TRUE(comes([&] { return first->view()->segments.size() == 1; }));
    expect_follows(*first);
  }
  /// Everything in segments, each on two nodes.
  void settle() {
    collection_->flush();
    collection_->settle();
    ASSERT_TRUE(comes([&] { return is_spread(count_, std::min<std::size_t>(count_, 2)); }));
  }
  /// Nobody repairs anything from here on.
  void end_writer() {
    number_ = collection_->shape().segments_on_nodes;
    const ViewPointer view = collection_->view();
    for (const View::Bulk& bulk : view->segments) {
      const std::filesystem::path folder = bulk.segment->directory().path();
      files_[bulk.segment->number()] = {
          .index = folder,
          .index_bytes = 1,
          .ids = folder / layout::kSegmentIdsFile,
          .ids_bytes = std::filesystem::file_size(folder / layout::kSegmentIdsFile),
          .contents = bulk.segment->contents()};
    }
    collection_.reset();
  }
  tiers::SegmentHost host(std::size_t node) const {
    tiers::AttachOptions options = attach_options();
    options.memory_node = rpc::parse_address(address(node));
    return tiers::SegmentHost(options);
  }
  /// A copy of the file in which a bit is another, and its checksum.
  std::pair<std::filesystem::path, std::uint64_t> damaged(const std::filesystem::path& path,
                                                          std::size_t at) const {
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    bytes.at(at) = static_cast<char>(bytes.at(at) ^ 4);
    const std::filesystem::path copy = folder_.file("damaged");
    std::ofstream(copy, std::ios::binary) << bytes;
    return {copy, XXH3_64bits(bytes.data(), bytes.size())};
  }
  void load_damaged_ids(std::size_t node) {
    auto [number, files] = *files_.begin();
    std::tie(files.ids, files.contents.ids) =
        damaged(files_.begin()->second.ids, files.ids_bytes - 3);
    host(node).load({number_, number}, files);
  }
  void load_damaged_catalogue(std::size_t node, std::uint64_t number, std::uint64_t revision,
                              std::size_t at) {
    const std::filesystem::path path = this->path() / layout::kCatalogueFile;
    const auto [copy, checksum] = damaged(path, at);
    host(node).load_catalogue(number, {.name = "set",
                                       .revision = revision,
                                       .path = copy,
                                       .bytes = std::filesystem::file_size(copy),
                                       .checksum = checksum});
  }

  std::size_t count_ = 0;
  std::uint64_t number_ = 0;
  std::map<std::uint64_t, tiers::SegmentHost::SegmentFiles> files_;  ///< of segments, by number
};

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

TEST_F(CollectionOnNodes, DamagedIdsAreReadFromAnotherCopyOrRefused) {
  start_all(2);
  open_on_nodes(access());
  insert_ids(0, 40);
  settle();
  end_writer();
  ASSERT_EQ(files_.size(), 1u);
  const std::uint64_t number = files_.begin()->first;
  load_damaged_ids(number % 2);  // the one that is read first
  expect_holds(read(), rows_, random_);
  load_damaged_ids((number + 1) % 2);
  EXPECT_THAT(message_of([&] { (void)read(); }),
              AllOf(HasSubstr("ids of segment " + std::to_string(number)), HasSubstr("damaged"),
                    HasSubstr(address(0)), HasSubstr(address(1))));
}

TEST_F(CollectionOnNodes, AnotherIndexUnderItsNumberIsRefused) {
  start_all(1);
  open_on_nodes(access());
  insert_ids(0, 40);
  collection_->flush();
  insert_ids(100, 140);
  settle();
  end_writer();
  ASSERT_EQ(files_.size(), 2u);
  const auto segments = layout::read_collection(path()).segments;
  const std::uint64_t second = segments[1].number;
  host(0).load({number_, second}, renumbered(files_.at(segments[0].number), segments[0], second));
  EXPECT_THAT(message_of([&] { (void)read(); }),
              AllOf(HasSubstr("another index"), HasSubstr(address(0))));
}

TEST_F(CollectionOnNodes, ADamagedCatalogueIsReadFromAnotherNodeOrRefused) {
  start_all(2);
  open_on_nodes(access());
  insert_ids(0, 60);
  settle();
  collection_->flush();
  insert_ids(40, 70);
  erase_ids({3});
  collection_->flush();
  end_writer();
  const std::size_t bytes = std::filesystem::file_size(path() / layout::kCatalogueFile);
  for (const std::size_t in_header : {std::size_t{3}, std::size_t{20}}) {
    EXPECT_THAT(message_of([&] { load_damaged_catalogue(0, number_, 1000, in_header); }),
                AllOf(HasSubstr("is not loaded"), HasSubstr("the memory node's log says which")));
  }
  for (const std::size_t at : {sizeof(layout::CatalogueHeader), std::size_t{200}, bytes - 1}) {
    load_damaged_catalogue(0, number_, 1000, at);
    expect_holds(read(), rows_, random_);
  }
  load_damaged_catalogue(1, number_, 1000, 100);
  EXPECT_THAT(message_of([&] { (void)read(); }),
              AllOf(HasSubstr("the catalogue of collection"), HasSubstr("damaged"),
                    HasSubstr(address(0)), HasSubstr(address(1))));
}

TEST_F(CollectionOnNodes, AFollowerSaysWhatItCannotReadAndGoesOn) {
  start_all(1);
  open_on_nodes(access());
  insert_ids(0, 60);
  settle();
  const auto follower = follow();
  end_writer();
  load_damaged_catalogue(0, number_, 1000, 100);
  EXPECT_TRUE(comes([&] { return !follower->state().failure.empty(); }));
  EXPECT_THAT(follower->state().failure, HasSubstr("the catalogue of collection"));
  expect_holds(follower->view(), rows_, random_);
  open(access());  // which brings its own
  insert_ids(40, 100);
  collection_->flush();
  expect_follows(*follower);
  EXPECT_TRUE(comes([&] { return follower->state().failure.empty(); }));
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
