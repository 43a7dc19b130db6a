// An index on disk, a compute node, and what tests ask it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "dataset/vector_file.h"
#include "rpc/channel.h"
#include "rpc/compute_node.grpc.pb.h"
#include "tests/e2e/child_process.h"
#include "tests/unit/data_sets.h"

namespace farvec::tests {

namespace v1 = compute_node::v1;
using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr const char* kImages =
    "/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz";
inline constexpr std::uint32_t kBase = 2000;
inline constexpr std::uint32_t kQueries = 50;
inline constexpr std::uint32_t kDimension = 784;
inline constexpr seconds kPatience{60};

inline bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

/// One index of Fashion-MNIST's first vectors for all tests; each test has sockets of its own.
struct SmallIndex : testing::Test {
  static inline std::filesystem::path folder;
  static inline std::vector<std::byte> base, queries;
  std::string compute_address;
  std::unique_ptr<ChildProcess> compute;

  static void SetUpTestSuite() {
    if (!std::filesystem::exists(kImages)) return;
    folder = std::filesystem::temp_directory_path() / ("farvec-e2e-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    base = cut(0, kBase, "base.u8bin");
    queries = cut(kBase, kQueries, "queries.u8bin");
    ChildProcess build({program("farvec"), "build", "graph", "--data", folder / "base.u8bin",
                        "--metric", "l2", "--degree", "24", "--list", "48", "--out",
                        folder / "index"});
    // A guest without KVM, on a machine that is busy, takes a minute.
    ASSERT_EQ(build.wait(std::chrono::minutes(5)), 0) << build.output();
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
    if (folder.empty()) GTEST_SKIP() << tests::no_data(kImages);
    compute_address = address("c");
  }

  /// A socket of this test's own.
  static std::string address(const std::string& suffix) {
    std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(test.begin(), test.end(), '/', '.');
    return "unix:" + (folder / (test + "." + suffix)).string();
  }

  void start_compute(const std::string& memory_nodes, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {program("farvec-compute-node"), "--memory-node", memory_nodes,
                               "--listen", compute_address});
    compute.reset();  // it listens there as long as it lives
    compute = std::make_unique<ChildProcess>(more);
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
};

}  // namespace farvec::tests
