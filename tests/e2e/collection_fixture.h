// A collection behind the daemon, and a node that follows it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "rpc/channel.h"
#include "rpc/collection.grpc.pb.h"
#include "rpc/compute_node.grpc.pb.h"
#include "tests/e2e/child_process.h"
#include "tests/e2e/collection_writer.h"

namespace farvec::tests {

using std::chrono::milliseconds;
using std::chrono::seconds;
namespace search_wire = compute_node::v1;

/// The longest that a node takes by default: nearly all that can be reached is met, so that a row
/// finds itself.
constexpr std::uint32_t kList = 1024;
constexpr std::uint64_t kWriters = 3;

struct CollectionE2e : testing::Test {
  std::filesystem::path folder;
  std::string address;
  std::vector<std::string> writer_options;  ///< of the node, besides
  std::unique_ptr<ChildProcess> node;
  std::shared_ptr<grpc::Channel> channel;
  std::vector<double> openings;  ///< how long each start() took until the node served, in seconds

  void SetUp() override {
    folder = std::filesystem::temp_directory_path() /
             ("farvec-collection-e2e-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    address = "unix:" + (folder / "node").string();
    ChildProcess create({program("farvec"), "collection", "create", "--collection", folder / "set",
                         "--metric", "l2", "--type", "f32", "--dimension",
                         std::to_string(kDimension), "--memtable-rows", "300", "--degree", "12",
                         "--list", "24"});
    ASSERT_EQ(create.wait(kPatience), 0) << create.output();
  }
  void TearDown() override {
    node.reset();
    std::filesystem::remove_all(folder);
  }

  void start_process() {
    std::vector<std::string> words{program("farvec-compute-node"), "--collection", folder / "set",
                                   "--listen", address};
    words.insert(words.end(), writer_options.begin(), writer_options.end());
    node.reset();  // it listens there as long as it lives
    node = std::make_unique<ChildProcess>(words);
  }
  void start() {
    const auto begin = std::chrono::steady_clock::now();
    start_process();
    channel = connect(*node, address);
    openings.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }

  /// Once the node at the address serves.
  static std::shared_ptr<grpc::Channel> connect(const ChildProcess& node,
                                                const std::string& address) {
    auto channel = rpc::connect(rpc::parse_address(address), {.wait = kPatience, .tls = {}});
    EXPECT_TRUE(comes([&] { return rpc::is_serving(channel, seconds(1)); })) << node.output();
    return channel;
  }

  /// Whether it came true within the time that anything may take here.
  static bool comes(const std::function<bool()>& true_by_now) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!true_by_now()) {
      if (std::chrono::steady_clock::now() >= end) return false;
      std::this_thread::sleep_for(milliseconds(5));
    }
    return true;
  }

  search_wire::SearchResponse search(const Row& query, std::uint32_t k) const {
    return search(channel, query, k);
  }
  /// Without results when it fails.
  static search_wire::SearchResponse search(const std::shared_ptr<grpc::Channel>& channel,
                                            const Row& query, std::uint32_t k) {
    search_wire::SearchResponse response;
    if (!try_search(channel, query, k, response).ok()) response.clear_results();
    return response;
  }
  static grpc::Status try_search(const std::shared_ptr<grpc::Channel>& channel, const Row& query,
                                 std::uint32_t k, search_wire::SearchResponse& response) {
    search_wire::SearchRequest request;
    request.set_type(search_wire::ELEMENT_TYPE_F32);
    request.set_dimension(kDimension);
    request.set_k(k);
    request.set_list(kList);
    request.add_queries(bytes_of(query));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    return search_wire::ComputeNode::NewStub(channel)->Search(&context, request, &response);
  }

  State get(std::uint64_t id) const {
    wire::GetRequest request;
    request.add_ids(id);
    wire::GetResponse response;
    grpc::ClientContext context;
    const grpc::Status status =
        wire::Collection::NewStub(channel)->Get(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    if (!status.ok() || !response.found(0)) return std::nullopt;
    Row row(kDimension);
    EXPECT_EQ(response.rows().size(), kDimension * sizeof(float));
    std::memcpy(row.data(), response.rows().data(), kDimension * sizeof(float));
    return row;
  }

  void expect_kept(const Writer& writer) {
    for (const auto& [id, told] : writer.told) {
      const State now = get(id);
      ASSERT_TRUE(now == told || writer.may_have(id, now)) << "id " << id;
      if (!now) continue;
      const auto found = search(*now, 1);
      ASSERT_EQ(found.results_size(), 1);
      ASSERT_EQ(found.results(0).user_ids_size(), 1);
      EXPECT_EQ(found.results(0).user_ids(0), id);
      EXPECT_EQ(found.results(0).distances(0), 0.0F);
    }
  }
};

/// A node that searches what another one changes.
struct FollowedE2e : CollectionE2e {
  std::unique_ptr<ChildProcess> follower;
  std::shared_ptr<grpc::Channel> sight;
  std::vector<std::string> follower_options;  ///< of the follower, besides
  std::string followed;                       ///< by it; empty: the writer's folder
  std::vector<double> followings;             ///< as openings, of follow()

  void TearDown() override {
    follower.reset();
    CollectionE2e::TearDown();
  }

  std::string followers_address() const { return "unix:" + (folder / "follower").string(); }
  /// In place of the one before, which listens there as long as it lives.
  void start_follower() {
    follower.reset();
    std::vector<std::string> words{program("farvec-compute-node"),
                                   "--collection",
                                   followed.empty() ? (folder / "set").string() : followed,
                                   "--follow",
                                   "--listen",
                                   followers_address()};
    words.insert(words.end(), follower_options.begin(), follower_options.end());
    follower = std::make_unique<ChildProcess>(words);
  }
  void follow() {
    const auto begin = std::chrono::steady_clock::now();
    start_follower();
    sight = connect(*follower, followers_address());
    followings.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }

  bool sees(std::uint64_t id, const Row& row) const {
    const auto found = search(sight, row, 1);
    return found.results_size() == 1 && found.results(0).user_ids_size() == 1 &&
           found.results(0).user_ids(0) == id && found.results(0).distances(0) == 0.0F;
  }

  search_wire::DescribeResponse describe() const {
    search_wire::DescribeResponse response;
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    const grpc::Status status =
        search_wire::ComputeNode::NewStub(sight)->Describe(&context, {}, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
};

}  // namespace farvec::tests
