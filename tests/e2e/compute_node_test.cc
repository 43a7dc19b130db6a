#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>

#include "base/error.h"
#include "cli/remote_search.h"
#include "distance/distance.h"
#include "rpc/channel.h"
#include "rpc/compute_node.grpc.pb.h"
#include "tests/e2e/child_process.h"

namespace farvec {
namespace {

namespace v1 = compute_node::v1;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr const char* kImages = "/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz";
constexpr std::uint32_t kBase = 2000;
constexpr std::uint32_t kQueries = 50;
constexpr std::uint32_t kDimension = 784;
constexpr seconds kPatience{60};
/// Slow enough that a search is in flight for tens of milliseconds.
constexpr const char* kSlowTier = "emulated:latency=5ms,bandwidth=1GB/s,rate=1M/s";

bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

/// One index for all tests; each test has daemons and sockets of its own.
struct ComputeNodeE2e : testing::Test {
  static inline std::filesystem::path folder;
  static inline std::vector<std::byte> base, queries;
  std::string memory_address, compute_address;
  std::unique_ptr<tests::ChildProcess> memory, compute;

  static void SetUpTestSuite() {
    if (!std::filesystem::exists(kImages)) return;
    folder = std::filesystem::temp_directory_path() / ("farvec-e2e-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    base = cut(0, kBase, "base.u8bin");
    queries = cut(kBase, kQueries, "queries.u8bin");
    tests::ChildProcess build({tests::program("farvec"), "build", "graph", "--data",
                               folder / "base.u8bin", "--metric", "l2", "--degree", "24", "--list",
                               "48", "--out", folder / "index"});
    ASSERT_EQ(build.wait(kPatience), 0) << build.output();
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder); }

  static std::vector<std::byte> cut(std::uint64_t begin, std::size_t count, const char* name) {
    const auto reader = dataset::open_vectors(kImages);
    std::vector<std::byte> rows(count * kDimension);
    reader->read_rows(begin, count, rows.data());
    const auto writer =
        dataset::create_vectors(folder / name, {count, kDimension, ElementType::u8});
    writer->append(rows.data(), count);
    writer->finish();
    return rows;
  }

  void SetUp() override {
    if (folder.empty()) GTEST_SKIP() << "the package dataset-fashion-mnist is not installed";
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    memory_address = "unix:" + (folder / (test + ".m")).string();
    compute_address = "unix:" + (folder / (test + ".c")).string();
  }

  void start_memory() {
    memory.reset();
    memory = std::make_unique<tests::ChildProcess>(
        std::vector<std::string>{tests::program("farvec-memory-node"), "--index", folder / "index",
                                 "--listen", memory_address});
  }
  void start_compute(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {tests::program("farvec-compute-node"), "--memory-node",
                               memory_address, "--listen", compute_address});
    compute = std::make_unique<tests::ChildProcess>(more);
  }
  std::shared_ptr<grpc::Channel> channel() const {
    return rpc::connect(rpc::parse_address(compute_address), {.wait = kPatience, .tls = {}});
  }
  bool serving() const {
    const auto connected = channel();
    return eventually([&] { return rpc::is_serving(connected, seconds(1)); });
  }

  static v1::SearchRequest request(std::uint32_t count = 1, std::uint32_t list = 60) {
    v1::SearchRequest made;
    made.set_type(v1::ELEMENT_TYPE_U8);
    made.set_dimension(kDimension);
    made.set_k(10);
    made.set_list(list);
    made.set_width(1);
    for (std::uint32_t i = 0; i < count; ++i) {
      made.add_queries(queries.data() + i * kDimension, kDimension);
    }
    return made;
  }
  static grpc::Status search(v1::ComputeNode::Stub& stub, milliseconds deadline = kPatience,
                             v1::SearchResponse* response = nullptr) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + deadline);
    v1::SearchResponse ignored;
    return stub.Search(&context, request(), response != nullptr ? response : &ignored);
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
  cli::RemoteSearchOptions options;
  options.address = compute_address;
  options.list = 60;
  const auto file = dataset::open_vectors(folder / "queries.u8bin");
  EXPECT_GE(recall(cli::search_remote(options, *file)), 0.95);
  options.k = 0;
  EXPECT_THROW(cli::search_remote(options, *file), Error);
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
