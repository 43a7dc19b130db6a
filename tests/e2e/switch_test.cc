// Indexes that are published while searches run: nothing is lost, doubled or wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>

#include "rpc/memory_node.grpc.pb.h"
#include "tests/e2e/small_index.h"

namespace farvec {
namespace {

using namespace tests;
using testing::HasSubstr;
namespace node_v1 = memory_node::v1;

void run(const std::vector<std::string>& command) {
  ChildProcess process(command);
  ASSERT_EQ(process.wait(kPatience), 0) << process.output();
}

/// What the callers have been told so far.
struct Answers {
  std::mutex mutex;
  std::map<std::uint64_t, std::uint64_t> by_generation;
  std::uint64_t queries = 0;

  void add(std::uint64_t generation, std::uint64_t count) {
    const std::lock_guard lock(mutex);
    ++by_generation[generation];
    queries += count;
  }
  std::uint64_t of(std::uint64_t generation) {
    const std::lock_guard lock(mutex);
    return by_generation[generation];
  }
};

/// One clustering in every layout, and regrouped: all of them give the same answers.
struct OnlineSwitch : SmallIndex, testing::WithParamInterface<const char*> {
  std::vector<std::unique_ptr<ChildProcess>> nodes;
  std::unique_ptr<v1::ComputeNode::Stub> stub;
  v1::SearchResponse expected;
  Answers answers;
  std::atomic<bool> stop{false};
  std::vector<std::thread> callers;

  static void SetUpTestSuite() {
    SmallIndex::SetUpTestSuite();
    if (folder.empty()) return;
    const std::string farvec = program("farvec");
    run({farvec, "build", "cluster", "--data", folder / "base.u8bin", "--metric", "l2",
         "--clusters", "50", "--replicas", "4", "--layout", "all", "--quiet", "--out",
         folder / "layouts"});
    run({farvec, "search", "--index", layout("grouped"), "--queries", folder / "queries.u8bin",
         "--k", "10", "--probe", "6", "--probe-counts", folder / "probes.json"});
    run({farvec, "regroup", "--index", layout("grouped"), "--frequencies", folder / "probes.json",
         "--quiet", "--out", layout("regrouped")});
  }
  void TearDown() override {
    stop = true;
    for (std::thread& caller : callers) caller.join();
  }

  static std::string layout(const std::string& name) { return folder / "layouts" / name; }
  static std::string node_address(std::size_t node) { return address("m" + std::to_string(node)); }

  void start(const std::vector<std::string>& index_and_more, std::size_t count = 1) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::string> command{program("farvec-memory-node"),
                                       "--listen",
                                       node_address(i),
                                       "--node",
                                       std::to_string(i),
                                       "--fabric",
                                       "tcp:127.0.0.1",
                                       "--lease-seconds",
                                       "3",
                                       "--quiet",
                                       "--index"};
      command.insert(command.end(), index_and_more.begin(), index_and_more.end());
      nodes.push_back(std::make_unique<ChildProcess>(command));
      all += (i == 0 ? "" : ",") + node_address(i);
    }
    start_compute(all, {"--tier", GetParam(), "--threads", "2", "--node-timeout-ms", "5000"});
    ASSERT_TRUE(serving()) << compute->output();
    stub = v1::ComputeNode::NewStub(channel());
    ASSERT_TRUE(ask(expected).ok());
    answers.add(expected.generation(), kQueries);
  }

  grpc::Status ask(v1::SearchResponse& response) const {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    auto asked = request(kQueries);
    asked.set_probe(6);
    return stub->Search(&context, asked, &response);
  }
  /// Each query of the request once, and each as before the first switch.
  void expect_right(const v1::SearchResponse& found) const {
    ASSERT_EQ(found.results_size(), static_cast<int>(kQueries));
    for (int q = 0; q < found.results_size(); ++q) {
      const v1::QueryResult& a = found.results(q);
      const v1::QueryResult& b = expected.results(q);
      ASSERT_EQ(a.status(), 0u) << a.message();
      ASSERT_EQ(std::vector(a.ids().begin(), a.ids().end()),
                std::vector(b.ids().begin(), b.ids().end()));
      ASSERT_EQ(std::vector(a.distances().begin(), a.distances().end()),
                std::vector(b.distances().begin(), b.distances().end()));
    }
  }
  void start_callers() {
    for (int caller = 0; caller < 3; ++caller) {
      callers.emplace_back([this] {
        while (!stop) {
          v1::SearchResponse found;
          const grpc::Status status = ask(found);
          ASSERT_TRUE(status.ok()) << status.error_message();
          expect_right(found);
          answers.add(found.generation(), kQueries);
        }
      });
    }
  }
  void stop_callers() {
    stop = true;
    for (std::thread& caller : callers) caller.join();
    callers.clear();
  }

  static node_v1::StatsResponse node_stats(std::size_t node = 0) {
    const auto channel = rpc::connect(rpc::parse_address(node_address(node)), {});
    grpc::ClientContext context;
    node_v1::StatsResponse stats;
    EXPECT_TRUE(node_v1::MemoryNode::NewStub(channel)->Stats(&context, {}, &stats).ok());
    return stats;
  }
  static std::uint64_t published(std::size_t node = 0) {
    const auto channel = rpc::connect(rpc::parse_address(node_address(node)), {});
    grpc::ClientContext context;
    node_v1::DescribeResponse now;
    EXPECT_TRUE(node_v1::MemoryNode::NewStub(channel)->Describe(&context, {}, &now).ok());
    return now.generation();
  }
  v1::StatsResponse stats() const {
    grpc::ClientContext context;
    v1::StatsResponse now;
    EXPECT_TRUE(stub->Stats(&context, {}, &now).ok());
    return now;
  }
  static void publish(const std::string& index, const std::string& to = node_address(0)) {
    run({program("farvec"), "publish", "--memory-node", to, "--index", index, "--json"});
  }
  void expect_nothing_lost_and_all_freed() {
    const v1::StatsResponse now = stats();
    EXPECT_EQ(now.queries_ok(), answers.queries);
    EXPECT_EQ(now.queries_unavailable() + now.queries_failed() + now.queries_rejected() +
                  now.queries_deadline_exceeded(),
              0u);
    EXPECT_EQ(now.reattaches(), 0u);
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      EXPECT_TRUE(eventually([&] { return node_stats(node).tables() == 1; }));
      EXPECT_EQ(node_stats(node).table_bytes(), node_stats(node).region_bytes());
    }
  }
};

TEST_P(OnlineSwitch, EveryQueryIsAnsweredOnceAndRight) {
  start({layout("grouped")});
  start_callers();
  const std::vector<std::string> turns{"decoupled", "regrouped", "coupled", "grouped-inline",
                                       "grouped"};
  for (std::size_t turn = 0; turn < 10 && !HasFailure(); ++turn) {
    publish(layout(turns[turn % turns.size()]));
    const std::uint64_t generation = published();
    EXPECT_TRUE(eventually([&] { return answers.of(generation) >= 2; })) << compute->output();
  }
  stop_callers();
  EXPECT_EQ(answers.by_generation.size(), 11u);
  EXPECT_EQ(stats().switches(), 10u);
  expect_nothing_lost_and_all_freed();
  if (HasFailure()) ADD_FAILURE() << compute->output() << nodes[0]->output();
  RecordProperty("queries", static_cast<int>(answers.queries));
}

TEST_P(OnlineSwitch, AVersionThatIsStaleBeforeItIsSeenIsPassedOver) {
  start({layout("grouped")});
  start_callers();
  for (const char* name : {"decoupled", "coupled", "regrouped"}) publish(layout(name));
  const std::uint64_t generation = published();
  EXPECT_TRUE(eventually([&] { return answers.of(generation) >= 2; })) << compute->output();
  stop_callers();
  EXPECT_EQ(node_stats().publications(), 4u);
  expect_nothing_lost_and_all_freed();
}

TEST_P(OnlineSwitch, WhatCannotBeLoadedChangesNothing) {
  start({layout("grouped")});
  start_callers();
  const std::uint64_t generation = published();
  const std::vector<std::string> useless{folder / "absent", folder};
  for (const std::string& index : useless) {
    ChildProcess farvec(
        {program("farvec"), "publish", "--memory-node", node_address(0), "--index", index});
    EXPECT_EQ(farvec.wait(kPatience), 1);
    EXPECT_THAT(farvec.output(), HasSubstr("what was published stays"));
  }
  const std::uint64_t before = answers.of(generation);
  EXPECT_TRUE(eventually([&] { return answers.of(generation) >= before + 4; }));
  stop_callers();
  EXPECT_EQ(published(), generation);
  EXPECT_EQ(answers.by_generation.size(), 1u);
  expect_nothing_lost_and_all_freed();
}

TEST_P(OnlineSwitch, SeveralNodesSwitchWhenAllHaveTheNewIndex) {
  const std::string first = address("first").substr(std::string("unix:").size());
  const std::string second = address("second").substr(std::string("unix:").size());
  std::filesystem::copy(layout("grouped"), first);
  std::filesystem::copy(layout("regrouped"), second);
  for (const std::string& index : {first, second}) {
    run({program("farvec"), "place", "--index", index, "--nodes", "2", "--replicas", "1"});
  }
  start({first}, 2);
  start_callers();
  const std::uint64_t old = expected.generation();
  publish(second, node_address(0));
  std::this_thread::sleep_for(seconds(3));  // several renewals
  EXPECT_EQ(stats().switches(), 0u);
  const std::uint64_t before = answers.of(old);
  EXPECT_TRUE(eventually([&] { return answers.of(old) >= before + 4; })) << compute->output();
  publish(second, node_address(1));
  EXPECT_TRUE(eventually([&] { return stats().switches() == 1; })) << compute->output();
  stop_callers();
  v1::SearchResponse found;
  ASSERT_TRUE(ask(found).ok());
  expect_right(found);
  EXPECT_NE(found.generation(), old);
  answers.add(found.generation(), kQueries);
  EXPECT_EQ(answers.by_generation.size(), 2u);
  expect_nothing_lost_and_all_freed();
}

INSTANTIATE_TEST_SUITE_P(Tiers, OnlineSwitch, testing::Values("shm", "fabric:tcp"),
                         [](const auto& tier) {
                           const std::string word = tier.param;
                           return word.substr(0, word.find(':'));
                         });

}  // namespace
}  // namespace farvec
