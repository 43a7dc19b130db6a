#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>

#include "base/error.h"
#include "client/remote_search.h"
#include "distance/distance.h"
#include "tests/e2e/small_index.h"

namespace farvec {
namespace {

using namespace tests;
using testing::HasSubstr;

/// Slow enough that a search is in flight for tens of milliseconds.
constexpr const char* kSlowTier = "emulated:latency=5ms,bandwidth=1GB/s,rate=1M/s";

struct ComputeNodeE2e : SmallIndex {
  std::string memory_address;
  std::unique_ptr<ChildProcess> memory;

  void SetUp() override {
    SmallIndex::SetUp();
    memory_address = address("m");
  }
  void start_memory() {
    memory.reset();
    memory = std::make_unique<ChildProcess>(std::vector<std::string>{
        program("farvec-memory-node"), "--index", folder / "index", "--listen", memory_address});
  }
  void start_compute(std::vector<std::string> more = {}) {
    SmallIndex::start_compute(memory_address, std::move(more));
  }

  double recall(const dataset::GroundTruth& found) const {
    const auto pair = distance::pair_kernel(Metric::l2, ElementType::u8, kDimension);
    std::size_t hits = 0;
    for (std::size_t q = 0; q < kQueries; ++q) {
      std::vector<float> exact;
      for (std::size_t i = 0; i < kBase; ++i) {
        exact.push_back(pair(&queries[q * kDimension], &base[i * kDimension], kDimension));
      }
      std::nth_element(exact.begin(), exact.begin() + 9, exact.end());
      for (float distance : found.distances_of(q)) hits += distance <= exact[9];
    }
    return static_cast<double>(hits) / (10.0 * kQueries);
  }
};

TEST_F(ComputeNodeE2e, FindsTheTrueNeighbours) {
  start_memory();
  start_compute({"--threads", "2"});
  ASSERT_TRUE(serving()) << compute->output();
  client::RemoteSearchOptions options;
  options.node.address = compute_address;
  options.parameters.list = 60;
  const auto file = dataset::open_vectors(folder / "queries.u8bin");
  EXPECT_GE(recall(client::search_remote(options, *file).neighbors), 0.95);
  options.parameters.k = 0;
  EXPECT_THROW(client::search_remote(options, *file), Error);
}

TEST_F(ComputeNodeE2e, SaysWhichDimensionItTakes) {
  start_memory();
  start_compute();
  ASSERT_TRUE(serving()) << compute->output();
  auto asked = request();
  asked.set_dimension(100);
  grpc::ClientContext context;
  v1::SearchResponse response;
  const auto stub = v1::ComputeNode::NewStub(channel());
  const grpc::Status status = stub->Search(&context, asked, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("dimension: 100 came, 784"));
}

TEST_F(ComputeNodeE2e, SurvivesTheMemoryNode) {
  start_memory();
  start_compute({"--tier", kSlowTier});
  ASSERT_TRUE(serving()) << compute->output();
  const auto stub = v1::ComputeNode::NewStub(channel());
  v1::SearchResponse before, after;
  ASSERT_TRUE(search(*stub, kPatience, &before).ok());
  std::vector<grpc::Status> statuses(8);
  std::vector<std::thread> callers;
  for (grpc::Status& status : statuses) {
    callers.emplace_back([&] {
      for (int i = 0; i < 10'000 && status.ok(); ++i) status = search(*stub, seconds(300));
    });
  }
  std::this_thread::sleep_for(milliseconds(100));
  memory->signal(SIGKILL);
  for (std::thread& caller : callers) caller.join();
  for (const grpc::Status& status : statuses) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
  }
  EXPECT_EQ(compute->wait(milliseconds(0)), std::nullopt) << compute->output();
  start_memory();
  EXPECT_TRUE(eventually([&] { return search(*stub, kPatience, &after).ok(); }))
      << compute->output();
  EXPECT_NE(before.generation(), after.generation());
  EXPECT_EQ(before.results(0).ids(0), after.results(0).ids(0));
}

TEST_F(ComputeNodeE2e, MayBeStartedFirst) {
  start_compute();
  ASSERT_FALSE(rpc::is_serving(channel(), seconds(5)));
  start_memory();
  EXPECT_TRUE(serving()) << compute->output();
}

TEST_F(ComputeNodeE2e, SaysWhomItWaitedFor) {
  start_compute({"--attach-seconds", "0.2"});
  EXPECT_EQ(compute->wait(kPatience), 1);
  EXPECT_THAT(compute->output(), HasSubstr("waited 0.2 s for memory node " + memory_address));
}

TEST_F(ComputeNodeE2e, RefusesWhatDoesNotFitTheQueueAndEndsWhatIsLate) {
  start_memory();
  start_compute({"--tier", kSlowTier, "--slots", "1", "--queue", "1"});
  ASSERT_TRUE(serving()) << compute->output();
  const auto stub = v1::ComputeNode::NewStub(channel());
  EXPECT_EQ(search(*stub, milliseconds(20)).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  std::atomic<int> ok{0}, refused{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      const auto code = search(*stub).error_code();
      ok += code == grpc::StatusCode::OK;
      refused += code == grpc::StatusCode::RESOURCE_EXHAUSTED;
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(ok + refused, 8);
  EXPECT_GE(ok, 1);
  EXPECT_GE(refused, 1);
  EXPECT_TRUE(search(*stub).ok());
}

TEST_F(ComputeNodeE2e, EndsWellOnSigterm) {
  start_memory();
  start_compute();
  ASSERT_TRUE(serving()) << compute->output();
  compute->signal(SIGTERM);
  EXPECT_EQ(compute->wait(kPatience), 0) << compute->output();
  start_compute();
  compute->signal(SIGTERM);  // during start: by the signal or in order, but promptly
  EXPECT_NE(compute->wait(kPatience), std::nullopt);
}

}  // namespace
}  // namespace farvec
