// A collection behind the daemon: what was acknowledged survives the daemon's death.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "base/random.h"
#include "rpc/channel.h"
#include "rpc/collection.grpc.pb.h"
#include "rpc/compute_node.grpc.pb.h"
#include "tests/e2e/child_process.h"

namespace farvec {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using tests::ChildProcess;
using tests::program;
namespace wire = collection::v1;
namespace search_wire = compute_node::v1;

constexpr std::uint32_t kDimension = 12;
constexpr std::uint64_t kWriters = 3;
constexpr std::uint64_t kIdsOfWriter = 400;
constexpr seconds kPatience{60};

using Row = std::vector<float>;
/// What an id may hold: nothing, or a row.
using State = std::optional<Row>;

std::string bytes_of(const Row& row) {
  return {reinterpret_cast<const char*>(row.data()), row.size() * sizeof(float)};
}

/// Inserts and deletes ids of its own, and remembers what it was told.
class Writer {
 public:
  Writer(std::shared_ptr<grpc::Channel> channel, std::uint64_t number)
      : stub_(wire::Collection::NewStub(std::move(channel))),
        first_(number << 40),  // more than 32 bits, but for the first writer's
        random_(number + 1) {}

  /// Until a call fails.
  void run() {
    while (random_.below(4) == 0 ? erase() : insert()) ++acknowledged;
  }

  std::atomic<int> acknowledged{0};
  std::map<std::uint64_t, State> told;   ///< by acknowledged calls
  std::map<std::uint64_t, State> asked;  ///< by the call that failed

 private:
  std::map<std::uint64_t, State> choose(bool erased) {
    std::map<std::uint64_t, State> chosen;
    for (int i = 0; i < 25; ++i) {
      State& state = chosen[first_ + random_.below(kIdsOfWriter)];
      if (erased) continue;
      state.emplace(kDimension);
      for (float& x : *state) x = static_cast<float>(random_.uniform());
    }
    return chosen;
  }
  bool end(const grpc::Status& status, const std::map<std::uint64_t, State>& changes) {
    auto& map = status.ok() ? told : asked;
    for (const auto& [id, state] : changes) map[id] = state;
    return status.ok();
  }
  bool insert() {
    const auto changes = choose(false);
    wire::InsertRequest request;
    request.set_type(wire::ELEMENT_TYPE_F32);
    request.set_dimension(kDimension);
    for (const auto& [id, state] : changes) {
      request.add_ids(id);
      request.mutable_rows()->append(bytes_of(*state));
    }
    wire::InsertResponse response;
    return end(stub_->Insert(&context(), request, &response), changes);
  }
  bool erase() {
    const auto changes = choose(true);
    wire::DeleteRequest request;
    for (const auto& [id, state] : changes) request.add_ids(id);
    wire::DeleteResponse response;
    return end(stub_->Delete(&context(), request, &response), changes);
  }
  grpc::ClientContext& context() {
    context_.emplace();
    context_->set_deadline(std::chrono::system_clock::now() + kPatience);
    return *context_;
  }

  const std::unique_ptr<wire::Collection::Stub> stub_;
  const std::uint64_t first_;
  Random random_;
  std::optional<grpc::ClientContext> context_;
};

struct CollectionE2e : testing::Test {
  std::filesystem::path folder;
  std::string address;
  std::unique_ptr<ChildProcess> node;
  std::shared_ptr<grpc::Channel> channel;

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

  void start() {
    node = std::make_unique<ChildProcess>(std::vector<std::string>{
        program("farvec-compute-node"), "--collection", folder / "set", "--listen", address});
    channel = connect(*node, address);
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
  static search_wire::SearchResponse search(const std::shared_ptr<grpc::Channel>& channel,
                                            const Row& query, std::uint32_t k) {
    search_wire::SearchRequest request;
    request.set_type(search_wire::ELEMENT_TYPE_F32);
    request.set_dimension(kDimension);
    request.set_k(k);
    request.add_queries(bytes_of(query));
    search_wire::SearchResponse response;
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    const auto stub = search_wire::ComputeNode::NewStub(channel);
    const grpc::Status status = stub->Search(&context, request, &response);
    if (!status.ok()) response.clear_results();
    return response;
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
      const auto asked = writer.asked.find(id);
      const bool may = asked != writer.asked.end() && now == asked->second;
      ASSERT_TRUE(now == told || may) << "id " << id;
      if (!now) continue;
      const auto found = search(*now, 1);
      ASSERT_EQ(found.results_size(), 1);
      ASSERT_EQ(found.results(0).user_ids_size(), 1);
      EXPECT_EQ(found.results(0).user_ids(0), id);
      EXPECT_EQ(found.results(0).distances(0), 0.0F);
    }
  }
};

TEST_F(CollectionE2e, WhatWasAcknowledgedSurvivesAKill) {
  start();
  if (HasFatalFailure()) return;
  std::vector<std::unique_ptr<Writer>> writers;
  std::vector<std::thread> threads;
  for (std::uint64_t w = 0; w < kWriters; ++w) {
    writers.push_back(std::make_unique<Writer>(channel, w));
    threads.emplace_back([&writer = *writers.back()] { writer.run(); });
  }
  std::atomic<bool> stop{false};
  std::atomic<int> searched{0};
  std::thread searcher([&] {
    Random random(99);
    while (!stop) {
      Row query(kDimension);
      for (float& x : query) x = static_cast<float>(random.uniform());
      const auto response = search(query, 10);
      if (response.results_size() == 0) break;
      const auto& distances = response.results(0).distances();
      EXPECT_TRUE(std::is_sorted(distances.begin(), distances.end()));
      ++searched;
    }
  });
  // Several memtables become segments meanwhile.
  for (const auto& writer : writers) {
    EXPECT_TRUE(comes([&] { return writer->acknowledged >= 60; })) << node->output();
  }
  node->signal(SIGKILL);
  for (std::thread& thread : threads) thread.join();
  stop = true;
  searcher.join();
  EXPECT_EQ(node->wait(), 128 + SIGKILL);
  EXPECT_GT(searched, 0);
  start();
  if (HasFatalFailure()) return;
  for (const auto& writer : writers) expect_kept(*writer);
  node->signal(SIGTERM);
  EXPECT_EQ(node->wait(), 0) << node->output();
}

/// A node that searches what another one changes.
struct FollowedE2e : CollectionE2e {
  std::unique_ptr<ChildProcess> follower;
  std::shared_ptr<grpc::Channel> sight;

  void TearDown() override {
    follower.reset();
    CollectionE2e::TearDown();
  }

  void follow() {
    const std::string there = "unix:" + (folder / "follower").string();
    follower = std::make_unique<ChildProcess>(
        std::vector<std::string>{program("farvec-compute-node"), "--collection", folder / "set",
                                 "--follow", "--listen", there});
    sight = connect(*follower, there);
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

TEST_F(FollowedE2e, SeesWhatTheWriterDidAlsoAfterItsDeath) {
  start();
  follow();
  if (HasFailure()) return;
  Writer writer(channel, 1);
  std::thread thread([&] { writer.run(); });
  EXPECT_TRUE(comes([&] { return writer.acknowledged >= 100; })) << node->output();
  node->signal(SIGKILL);
  thread.join();
  std::size_t live = 0;
  for (const auto& [id, told] : writer.told) {
    if (!told || writer.asked.contains(id)) continue;
    ++live;
    EXPECT_TRUE(comes([&] { return sees(id, *told); })) << "id " << id << follower->output();
  }
  EXPECT_GT(live, 100u);
  start();
  if (HasFailure()) return;
  Writer next(channel, 2);
  std::thread again([&] { next.run(); });
  EXPECT_TRUE(comes([&] { return next.acknowledged >= 20; })) << node->output();
  node->signal(SIGTERM);
  again.join();
  for (const auto& [id, told] : next.told) {
    if (!told || next.asked.contains(id)) continue;
    EXPECT_TRUE(comes([&] { return sees(id, *told); })) << "id " << id << follower->output();
  }
  EXPECT_TRUE(comes([&] { return describe().freshness_ms() < 1e3; }));
  EXPECT_TRUE(describe().has_freshness_ms());
  EXPECT_EQ(describe().follow_failure(), "");
}

TEST_F(FollowedE2e, TakesNoChanges) {
  start();
  follow();
  if (HasFailure()) return;
  wire::DeleteRequest request;
  request.add_ids(1);
  wire::DeleteResponse response;
  grpc::ClientContext context;
  const grpc::Status status =
      wire::Collection::NewStub(sight)->Delete(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  ChildProcess deletes({program("farvec"), "collection", "delete", "--range", "0:1", "--connect",
                        "unix:" + (folder / "follower").string()});
  EXPECT_EQ(deletes.wait(kPatience), 1);
  EXPECT_NE(deletes.output().find("--follow"), std::string::npos) << deletes.output();
}

TEST_F(CollectionE2e, TheNodeIsTheOneWriter) {
  start();
  if (HasFatalFailure()) return;
  ChildProcess second({program("farvec-compute-node"), "--collection", folder / "set", "--listen",
                       "unix:" + (folder / "second").string()});
  EXPECT_EQ(second.wait(kPatience), 1);
  EXPECT_NE(second.output().find("another process"), std::string::npos) << second.output();
}

}  // namespace
}  // namespace farvec
