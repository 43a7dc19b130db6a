// An index over several memory nodes, which die, come back, and are missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "tests/e2e/small_index.h"

namespace farvec {
namespace {

using namespace tests;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The address of an RDMA device (scripts/lab/lab.sh run sets it), or null.
const char* rdma_address() {
  return std::getenv("FARVEC_LAB_SELF");
}

/// Reads by libfabric's tcp provider over the loopback device, out of mappings, or over RDMA.
struct ManyNodes : SmallIndex, testing::WithParamInterface<const char*> {
  std::vector<std::unique_ptr<ChildProcess>> nodes;
  std::filesystem::path index;
  std::uint32_t probe = 0;  ///< of a cluster index
  std::unique_ptr<v1::ComputeNode::Stub> stub;

  void SetUp() override {
    SmallIndex::SetUp();
    if (IsSkipped()) return;
    if (over_rdma() && rdma_address() == nullptr) {
      GTEST_SKIP() << "no RDMA device here; the test rdma.many_nodes brings one";
    }
    index = address("index").substr(std::string("unix:").size());
    copy_index();
  }
  virtual void copy_index() { std::filesystem::copy(folder / "index", index); }

  static bool over_rdma() { return std::string(GetParam()) == "verbs"; }

  void place(const std::string& count, const std::string& replicas) {
    ChildProcess farvec(
        {program("farvec"), "place", "--index", index, "--nodes", count, "--replicas", replicas});
    ASSERT_EQ(farvec.wait(kPatience), 0) << farvec.output();
    nodes.resize(std::stoul(count));
  }
  static std::string node_address(std::size_t node) { return address("m" + std::to_string(node)); }
  std::string all_addresses() const {
    std::string text = node_address(0);
    for (std::size_t i = 1; i < nodes.size(); ++i) text.append(",").append(node_address(i));
    return text;
  }
  void start_node(std::size_t node, std::optional<std::size_t> number = {}) {
    nodes[node].reset();
    nodes[node] = std::make_unique<ChildProcess>(std::vector<std::string>{
        program("farvec-memory-node"), "--index", index, "--node",
        std::to_string(number.value_or(node)), "--listen", node_address(node), "--quiet",
        over_rdma() ? "--rdma" : "--fabric", over_rdma() ? rdma_address() : "tcp:127.0.0.1"});
  }
  void start_nodes() {
    for (std::size_t node = 0; node < nodes.size(); ++node) start_node(node);
  }
  /// With all memory nodes that run: after a second the compute node begins without one that a
  /// replica stands for, and on a busy machine a node may take longer. The other one is then the
  /// last, and its end is the end of the searches.
  void start(std::vector<std::string> more = {}) {
    // A machine that is busy with other tests is silent for longer than a node should be.
    more.insert(more.end(), {"--tier", GetParam(), "--node-timeout-ms", "5000"});
    start_compute(all_addresses(), more);
    ASSERT_TRUE(serving()) << compute->output();
    stub = v1::ComputeNode::NewStub(channel());
    const auto running = static_cast<std::size_t>(std::count_if(
        nodes.begin(), nodes.end(), [](const auto& node) { return node != nullptr; }));
    ASSERT_TRUE(eventually([&] { return attached() == running; })) << compute->output();
  }

  grpc::Status ask(v1::SearchResponse& response, std::optional<bool> partial = {},
                   milliseconds deadline = seconds(60)) const {
    if (stub == nullptr) return {grpc::StatusCode::UNAVAILABLE, "it never served"};
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + deadline);
    auto asked = request(kQueries);
    asked.set_probe(probe);
    if (partial) asked.set_partial(*partial);
    return stub->Search(&context, asked, &response);
  }
  testing::AssertionResult answered(v1::SearchResponse& response,
                                    std::optional<bool> partial = {}) const {
    const grpc::Status status = ask(response, partial);
    if (status.ok()) return testing::AssertionSuccess();
    return testing::AssertionFailure() << status.error_message() << "\n" << compute->output();
  }
  std::size_t attached() const {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    v1::StatsResponse stats;
    if (!stub->Stats(&context, {}, &stats).ok()) return 0;
    std::size_t count = 0;
    for (const auto& node : stats.memory_nodes()) count += node.attached();
    return count;
  }

  void kill_with_a_replica();
  void kill_without_a_replica();

  static void expect_same(const v1::SearchResponse& found, const v1::SearchResponse& expected) {
    ASSERT_EQ(found.results_size(), expected.results_size());
    for (int q = 0; q < found.results_size(); ++q) {
      const v1::QueryResult& a = found.results(q);
      const v1::QueryResult& b = expected.results(q);
      ASSERT_EQ(a.status(), 0u) << a.message();
      EXPECT_EQ(a.coverage(), 1);
      ASSERT_EQ(std::vector(a.ids().begin(), a.ids().end()),
                std::vector(b.ids().begin(), b.ids().end()));
      ASSERT_EQ(std::vector(a.distances().begin(), a.distances().end()),
                std::vector(b.distances().begin(), b.distances().end()));
      EXPECT_EQ(a.counts().reads(), b.counts().reads());
      EXPECT_EQ(a.counts().bytes(), b.counts().bytes());
    }
  }
};

/// How often the longest test kills a node; more than the default for a run by hand.
int kills() {
  const char* wanted = std::getenv("FARVEC_E2E_KILLS");
  return wanted != nullptr ? std::atoi(wanted) : 6;
}

TEST_P(ManyNodes, AnswerAsOneNodeDoes) {
  v1::SearchResponse one, three;
  place("1", "1");
  start_nodes();
  start();
  ASSERT_TRUE(answered(one));
  compute.reset();
  nodes.clear();
  place("3", "1");
  start_nodes();
  start();
  ASSERT_TRUE(answered(three));
  expect_same(three, one);
  EXPECT_EQ(attached(), 3u);
}

void ManyNodes::kill_with_a_replica() {
  place("2", "2");
  start_nodes();
  start({"--threads", "2"});
  v1::SearchResponse expected;
  ASSERT_TRUE(answered(expected));
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> answers{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      while (!stop) {
        v1::SearchResponse found;
        const grpc::Status status = ask(found);
        if (stop) return;
        ASSERT_TRUE(status.ok()) << status.error_message();
        expect_same(found, expected);
        ++answers;
      }
    });
  }
  for (int kill = 0; kill < kills() && !HasFailure(); ++kill) {
    const std::size_t node = static_cast<std::size_t>(kill) % 2;
    nodes[node]->signal(SIGKILL);
    nodes[node]->wait();
    const std::uint64_t before = answers;
    EXPECT_TRUE(eventually([&] { return answers >= before + 4; })) << compute->output();
    EXPECT_TRUE(eventually([&] { return attached() == 1; })) << compute->output();
    start_node(node);
    EXPECT_TRUE(eventually([&] { return attached() == 2; })) << compute->output();
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(compute->wait(milliseconds(0)), std::nullopt);
  EXPECT_THAT(compute->output(), HasSubstr("copies on other nodes are read instead"));
  EXPECT_THAT(compute->output(), Not(HasSubstr("reads end with unavailable")));
  if (HasFailure()) ADD_FAILURE() << compute->output();
  RecordProperty("answers", static_cast<int>(answers));
}

void ManyNodes::kill_without_a_replica() {
  place("2", "1");
  start_nodes();
  start({"--partial"});
  v1::SearchResponse expected, partial, refused, back;
  ASSERT_TRUE(answered(expected));
  nodes[0]->signal(SIGKILL);
  ASSERT_TRUE(eventually([&] { return attached() == 1; }));
  ASSERT_TRUE(answered(partial));
  for (const v1::QueryResult& result : partial.results()) {
    ASSERT_EQ(result.status(), 0u) << result.message();
    if (result.counts().lost() == 0) continue;
    EXPECT_GT(result.coverage(), 0.3);
    EXPECT_LT(result.coverage(), 0.7);
  }
  EXPECT_GT(partial.results(0).counts().lost(), 0u);
  const grpc::Status status = ask(refused, false);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
  start_node(0);
  ASSERT_TRUE(eventually([&] { return attached() == 2; })) << compute->output();
  ASSERT_TRUE(answered(back, false));
  expect_same(back, expected);
}

TEST_P(ManyNodes, WithAReplicaKillsDoNotShow) {
  kill_with_a_replica();
}

TEST_P(ManyNodes, WithoutAReplicaTheCallerChooses) {
  kill_without_a_replica();
}

TEST_P(ManyNodes, TheLossOfAllEndsAndTheirReturnOpensAgain) {
  place("2", "2");
  start_nodes();
  start();
  v1::SearchResponse expected, found;
  ASSERT_TRUE(answered(expected));
  for (const auto& node : nodes) node->signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return ask(found).error_code() == grpc::StatusCode::UNAVAILABLE; }));
  start_nodes();
  EXPECT_TRUE(eventually([&] { return ask(found).ok(); })) << compute->output();
  expect_same(found, expected);
}

TEST_P(ManyNodes, ANodeThatStopsIsReplacedAndReturned) {
  place("2", "2");
  start_nodes();
  start();
  v1::SearchResponse expected, found;
  ASSERT_TRUE(answered(expected));
  nodes[1]->signal(SIGTERM);
  EXPECT_EQ(nodes[1]->wait(kPatience), 0) << nodes[1]->output();
  ASSERT_TRUE(answered(found));
  expect_same(found, expected);
}

TEST_P(ManyNodes, BeginWithoutOneThatAReplicaStandsFor) {
  place("2", "2");
  start_node(1);
  start();
  v1::SearchResponse found;
  ASSERT_TRUE(answered(found));
  EXPECT_EQ(attached(), 1u);
  start_node(0);
  EXPECT_TRUE(compute->wait_for_output("memory node 0 is attached at")) << compute->output();
  EXPECT_THAT(compute->output(), Not(HasSubstr("attached again")));
  nodes[0]->signal(SIGKILL);
  nodes[0]->wait();
  EXPECT_TRUE(eventually([&] { return attached() == 1; })) << compute->output();
  start_node(0);
  EXPECT_TRUE(compute->wait_for_output("memory node 0 is attached again at"));
}

TEST_P(ManyNodes, DoNotBeginWithoutOneThatNobodyStandsFor) {
  place("2", "1");
  start_node(1);
  start_compute(all_addresses(), {"--tier", GetParam(), "--attach-seconds", "3"});
  EXPECT_EQ(compute->wait(kPatience), 1);
  EXPECT_THAT(compute->output(),
              AllOf(HasSubstr("waited 3 s"), HasSubstr(node_address(0)),
                    HasSubstr("nothing listens at"), HasSubstr("trying again for up to 3 s")));
}

TEST_P(ManyNodes, MistakesAreNamed) {
  place("2", "1");
  start_node(0);
  start_node(1, 0);
  start_compute(all_addresses(), {"--tier", GetParam()});
  EXPECT_EQ(compute->wait(kPatience), 1);
  EXPECT_THAT(compute->output(), HasSubstr("both say that they are node 0"));

  start_node(1);
  start_compute(node_address(0), {"--tier", GetParam()});
  EXPECT_EQ(compute->wait(kPatience), 1);
  EXPECT_THAT(compute->output(), HasSubstr("do not hold all of it"));

  ASSERT_TRUE(nodes[0]->wait_for_output("serving"));
  ASSERT_TRUE(nodes[1]->wait_for_output("serving"));
  place("2", "2");
  start_node(1);
  start_compute(all_addresses(), {"--tier", GetParam()});
  EXPECT_EQ(compute->wait(kPatience), 1);
  EXPECT_THAT(compute->output(), HasSubstr("in another placement"));

  start_compute(node_address(0) + "," + node_address(0), {"--tier", GetParam()});
  EXPECT_EQ(compute->wait(kPatience), 1);
  EXPECT_THAT(compute->output(), HasSubstr("twice"));
}

/// The same of a cluster index: nodes are lost while a probe's groups and strays are on their way.
struct ManyNodesOfClusters : ManyNodes {
  static void SetUpTestSuite() {
    SmallIndex::SetUpTestSuite();
    if (folder.empty()) return;
    ChildProcess build({program("farvec"), "build", "cluster", "--data", folder / "base.u8bin",
                        "--metric", "l2", "--clusters", "50", "--replicas", "4", "--layout",
                        "grouped-inline", "--quiet", "--out", folder / "clusters"});
    ASSERT_EQ(build.wait(kPatience), 0) << build.output();
  }
  void copy_index() override {
    std::filesystem::copy(folder / "clusters", index);
    probe = 12;
  }
};

TEST_P(ManyNodesOfClusters, WithAReplicaKillsDoNotShow) {
  kill_with_a_replica();
}

TEST_P(ManyNodesOfClusters, WithoutAReplicaTheCallerChooses) {
  kill_without_a_replica();
}

/// The same of a graph whose records hold the codes of their neighbours.
struct ManyNodesOfInlineGraphs : ManyNodes {
  void copy_index() override {
    ChildProcess convert({program("farvec"), "convert", "--index", folder / "index", "--layout",
                          "inline", "--quiet", "--out", index});
    // Under the thread sanitizer it takes a minute of a processor.
    ASSERT_EQ(convert.wait(5 * kPatience), 0) << convert.output();
  }
};

TEST_P(ManyNodesOfInlineGraphs, WithAReplicaKillsDoNotShow) {
  kill_with_a_replica();
}

std::string tier_name(const testing::TestParamInfo<const char*>& tier) {
  const std::string word = tier.param;
  return word.substr(0, word.find(':'));
}
INSTANTIATE_TEST_SUITE_P(Tiers, ManyNodes, testing::Values("fabric:tcp", "shm", "verbs"),
                         tier_name);
INSTANTIATE_TEST_SUITE_P(Tiers, ManyNodesOfInlineGraphs, testing::Values("fabric:tcp"), tier_name);
INSTANTIATE_TEST_SUITE_P(Tiers, ManyNodesOfClusters, testing::Values("fabric:tcp", "shm"),
                         tier_name);

}  // namespace
}  // namespace farvec
