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

#include "collection/collection_follower.h"
#include "collection/collection_reader.h"
#include "memory_node/daemon.h"
#include "rpc/channel.h"
#include "rpc/memory_node.grpc.pb.h"
#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/collection/comes.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using tests::message_of;
namespace node_wire = memory_node::v1;

constexpr std::size_t kNodes = 3;
constexpr std::uint64_t kPlenty = 64 << 20;

/// A memory node on threads of this process, until it ends.
class Node {
 public:
  Node(const std::string& address, const std::string& tier, std::uint64_t bytes) {
    options_.listen = rpc::parse_address(address);
    options_.segment_bytes = bytes;
    options_.quiet = true;
    options_.threads = 1;
    options_.drain = 0ms;
    options_.lease = 20s;
    if (tier == "fabric:tcp") {
      options_.lease = 4s;  // by which a death is noticed: nothing hangs up
      options_.fabric = "tcp:127.0.0.1";
    }
    thread_ = std::thread([this] { memory_node::run_daemon(options_, stop_); });
    const auto channel = rpc::connect(options_.listen, {.wait = 60s, .tls = {}});
    EXPECT_TRUE(comes([&] { return rpc::is_serving(channel, 1s); }));
    stub_ = node_wire::MemoryNode::NewStub(channel);
  }
  ~Node() {
    stop_ = true;
    thread_.join();
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  std::uint64_t segment_bytes() const {
    node_wire::StatsResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(stub_->Stats(&context, {}, &response).ok());
    return response.segments().bytes();
  }

 private:
  memory_node::DaemonOptions options_;
  std::atomic<bool> stop_{false};
  std::unique_ptr<node_wire::MemoryNode::Stub> stub_;
  std::thread thread_;
};

class SegmentsOnNodes : public ChangingCollection {
 protected:
  ~SegmentsOnNodes() override { collection_.reset(); }

  std::string address(std::size_t node) const {
    return "unix:" + folder_.file("node" + std::to_string(node));
  }
  void start(std::size_t node, std::uint64_t bytes = kPlenty) {
    nodes_[node] = std::make_unique<Node>(address(node), tier_, bytes);
  }
  SegmentAccess segments_on(std::size_t count) const {
    SegmentNodesOptions options;
    for (std::size_t i = 0; i < count; ++i) {
      options.nodes.push_back(rpc::parse_address(address(i)));
    }
    const auto tier = tiers::parse_node_tier(tier_);
    options.attach.reads = tier->read_path();
    options.attach.connect_timeout = 1s;
    options.attach.call_timeout = 60s;  // nodes, writer and readers share two processors
    SegmentAccess segments = small_segments();
    segments.tier = tier;
    segments.nodes = std::make_shared<const SegmentNodes>(std::move(options));
    return segments;
  }
  void open_on(std::size_t count) {
    CollectionAccess access = small_access();
    access.segments = segments_on(count);
    access.link = true;
    open(access);
    for (const View::Bulk& bulk : collection_->view()->segments) bulk.segment->load();
  }

  std::set<std::uint64_t> held_by(std::size_t node) const {
    tiers::AttachOptions options;
    options.memory_node = rpc::parse_address(address(node));
    std::set<std::uint64_t> numbers;
    for (const auto& [number, sum] :
         tiers::SegmentHost(options).list(collection_->shape().segments_on_nodes)) {
      numbers.insert(number);
    }
    return numbers;
  }
  /// Every segment of the view on as many nodes as `copies`, and nothing else.
  bool is_spread(std::size_t nodes, std::size_t copies) const {
    std::multiset<std::uint64_t> held;
    for (std::size_t i = 0; i < nodes; ++i) held.merge(std::multiset(held_of(i)));
    std::multiset<std::uint64_t> wanted;
    for (const View::Bulk& bulk : collection_->view()->segments) {
      for (std::size_t i = 0; i < copies; ++i) wanted.insert(bulk.segment->number());
    }
    return held == wanted;
  }
  std::multiset<std::uint64_t> held_of(std::size_t node) const {
    const auto numbers = held_by(node);
    return {numbers.begin(), numbers.end()};
  }

  std::string tier_ = "shm";
  std::array<std::unique_ptr<Node>, kNodes> nodes_;
};

class SegmentsOnTier : public SegmentsOnNodes, public ::testing::WithParamInterface<std::string> {
 protected:
  SegmentsOnTier() { tier_ = GetParam(); }
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    if (tier_ != "shm") GTEST_SKIP() << "leases end before slow threads have renewed them";
#endif
    SegmentsOnNodes::SetUp();
  }
};

/// Of one search, which may fail.
Status status_of_search(const ViewPointer& view) {
  std::array<std::uint64_t, 1> ids{};
  std::array<float, 1> distances{};
  const std::vector<float> query(kSmallDimension, 0.5F);
  search::TaskListFeed feed(1, kPatienceUs);
  search::SearchTask& task = feed.tasks().front();
  task.query = reinterpret_cast<const std::byte*>(query.data());
  task.parameters = search::SearchParameters::make(1, search::GraphChoice{.list = kAll}).value();
  task.user_ids = ids.data();
  task.distances = distances.data();
  make_collection_core([&] { return view; }, 3)->run(feed);
  return task.status;
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
      for (const View::Bulk& bulk : collection_->view()->segments) bulk.segment->load();
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
  ASSERT_TRUE(comes([&] { return is_spread(2, 2); }));
  nodes_[0].reset();
  expect_same();
  insert_ids(150, 300);
  collection_->flush();
  collection_->settle();
  expect_same();
  ASSERT_TRUE(comes([&] { return !collection_->state().failure.empty(); }));
  EXPECT_THAT(collection_->state().failure, HasSubstr("is on 1 of 2 memory nodes"));
  EXPECT_THAT(collection_->state().failure, HasSubstr(address(0)));
  start(0);
  EXPECT_TRUE(comes([&] { return is_spread(2, 2); }));
  EXPECT_TRUE(comes([&] { return collection_->state().failure.empty(); }));
  nodes_[1].reset();
  EXPECT_TRUE(comes([&] { return status_of_search(collection_->view()).ok(); }));
  expect_same();
}

TEST_F(SegmentsOnNodes, WithoutAnyNodeNothingIsLost) {
  start(0);
  open_on(1);
  insert_ids(0, 120);
  collection_->flush();
  nodes_[0].reset();
  insert_ids(120, 140);
  EXPECT_EQ(status_of_search(collection_->view()).code(), StatusCode::unavailable);
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
  const std::filesystem::path other = collection_->view()->segments[0].segment->directory().path();
  const std::uint64_t next = layout::read_collection(path()).next_segment;
  collection_.reset();
  // As if it had published two segments, of which no manifest knows.
  tiers::AttachOptions options;
  options.memory_node = rpc::parse_address(address(1));
  tiers::SegmentHost host(options);
  host.load({collection, next}, other, 1);
  host.load({collection, next + 7}, other, 1);
  host.load({collection + 1, next}, other, 1);  // another's
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
  const std::uint64_t one =
      collection_->view()->segments[0].segment->directory().manifest().node_bytes(0);
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
