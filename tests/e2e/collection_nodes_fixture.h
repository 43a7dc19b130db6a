// A collection whose log, segments or both lie on memory nodes, which come and go.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dataset/groundtruth.h"
#include "dataset/vector_file.h"
#include "tests/e2e/collection_fixture.h"

namespace farvec::tests {

/// By the tier that is the parameter: "shm", "fabric:tcp" or "verbs".
class NodesE2e : public FollowedE2e, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "verbs" && std::getenv("FARVEC_LAB_SELF") == nullptr) {
      GTEST_SKIP() << "no RDMA device: run this program through scripts/lab/lab.sh run";
    }
    FollowedE2e::SetUp();
  }
  void TearDown() override {
    nodes.clear();
    FollowedE2e::TearDown();
  }

  std::string node_address(std::size_t i) const {
    return "unix:" + (folder / ("memory" + std::to_string(i))).string();
  }
  /// Where the grant has a connection the lease ends with it. A guest of the lab is slow to renew.
  std::string lease_seconds() const {
    if (GetParam() == "verbs") return "15";
    return GetParam() == "shm" ? "60" : "2";
  }
  /// The lab's emulated machine takes seconds for what takes others milliseconds.
  bool slow() const { return GetParam() == "verbs"; }
  int some(int acknowledged) const { return slow() ? 1 + acknowledged / 20 : acknowledged; }
  void start_node(std::size_t i) {
    std::vector<std::string> words{program("farvec-memory-node"), "--listen", node_address(i),
                                   "--lease-seconds", lease_seconds()};
    words.insert(words.end(), node_options.begin(), node_options.end());
    if (GetParam() == "fabric:tcp") words.insert(words.end(), {"--fabric", "tcp:127.0.0.1"});
    if (GetParam() == "verbs") {
      words.insert(words.end(), {"--rdma", std::getenv("FARVEC_LAB_SELF"), "--rdma-port",
                                 std::to_string(18600 + 50 * i)});
    }
    if (nodes.size() <= i) nodes.resize(i + 1);
    nodes[i] = nullptr;
    nodes[i] = std::make_unique<ChildProcess>(words);
    EXPECT_TRUE(nodes[i]->wait_for_output("serving ")) << nodes[i]->output();
  }
  /// Returns their addresses, separated by commas.
  std::string start_nodes(std::size_t count) {
    std::string addresses;
    for (std::size_t i = 0; i < count; ++i) {
      start_node(i);
      addresses += (i == 0 ? "" : ",") + node_address(i);
    }
    return addresses;
  }
  void kill_node(std::size_t i) const {
    nodes[i]->signal(SIGKILL);
    EXPECT_EQ(nodes[i]->wait(), 128 + SIGKILL);
  }

  /// Until that many calls were acknowledged; the writer goes on until stop() or a failure.
  void write_until(Writer& writer, int acknowledged, const std::function<void()>& then) {
    std::thread thread([&] { writer.run(); });
    EXPECT_TRUE(comes([&] { return writer.acknowledged >= acknowledged; })) << node->output();
    then();
    thread.join();
  }
  /// Whose log and segments are on all of them; its followers have the same options.
  void start_nodes_and_writer(std::size_t count) {
    node_options = {"--log-bytes", "32MiB", "--segment-bytes", "64MiB"};
    const std::string addresses = start_nodes(count);
    writer_options = {"--log-nodes",     addresses, "--log-tier",     GetParam(),
                      "--segment-nodes", addresses, "--segment-tier", GetParam()};
    follower_options = writer_options;
    start();
  }

  /// Searches read each record by itself, which takes longer through a network's stack.
  int calls(int shm) const { return GetParam() == "shm" ? shm : std::min(some(shm), shm / 4); }

  wire::StatsResponse stats() const {
    wire::StatsResponse response;
    grpc::ClientContext context;
    const grpc::Status status = wire::Collection::NewStub(channel)->Stats(&context, {}, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  grpc::Status flush() const {
    wire::FlushResponse response;
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    return wire::Collection::NewStub(channel)->Flush(&context, {}, &response);
  }
  /// Rows that are there, in segments.
  void write_rows(Writer& writer, int acknowledged) {
    write_until(writer, acknowledged, [&] { writer.stop = true; });
    grpc::Status status;  // a node that is asked for the first time may not have answered yet
    EXPECT_TRUE(comes([&] {
      status = flush();
      return status.error_code() != grpc::StatusCode::UNAVAILABLE;
    }));
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_GT(stats().segments(), 0u);
  }
  static std::map<std::uint64_t, Row> rows_of(const Writer& writer) {
    std::map<std::uint64_t, Row> rows;
    for (const auto& [id, told] : writer.told) {
      if (told) rows[id] = *told;
    }
    return rows;
  }
  bool has_copies_of_log(std::uint32_t count) const {
    return comes([&] { return stats().log_copies() == count; });
  }
  void kill_follower() const {
    follower->signal(SIGKILL);
    EXPECT_EQ(follower->wait(), 128 + SIGKILL);
  }
  /// So many as the environment says, or by the tier.
  int kills(int shm, int others) const {
    const char* const asked = std::getenv("FARVEC_KILLS");
    if (asked != nullptr) return std::atoi(asked);
    return GetParam() == "shm" ? shm : others;
  }
  void kill_writer() const {
    node->signal(SIGKILL);
    EXPECT_EQ(node->wait(), 128 + SIGKILL);
  }
  /// For the record of a long run.
  void tell(const char* what, int count, std::vector<double> openings_s) const {
    std::sort(openings_s.begin(), openings_s.end());
    fmt::print("{}: {} kills of {}; open again after {:.3f} s (median), {:.3f} s at most\n",
               GetParam(), count, what, openings_s[openings_s.size() / 2], openings_s.back());
  }
  void expect_seen(const Writer& writer) const {
    for (const auto& [id, told] : writer.told) {
      if (!told || writer.asked.contains(id)) continue;
      ASSERT_TRUE(comes([&, id = id] { return sees(id, *writer.told.at(id)); }))
          << "id " << id << follower->output();
    }
  }
  /// Options of a search for each of the rows, which is to find itself. Ids are below 2^32.
  std::vector<std::string> write_own_queries(const std::map<std::uint64_t, Row>& rows) const {
    const std::string queries = folder / "queries.fbin", truth = folder / "truth.ibin";
    dataset::GroundTruth own;
    own.queries = rows.size();
    own.k = 1;
    const auto file = dataset::create_vectors(queries, {rows.size(), kDimension, ElementType::f32});
    for (const auto& [id, row] : rows) {
      file->append(reinterpret_cast<const std::byte*>(row.data()), 1);
      own.ids.push_back(static_cast<NodeId>(id));
      own.distances.push_back(0);
    }
    file->finish();
    dataset::write_groundtruth(truth, own);
    return {"--queries", queries, "--groundtruth", truth,
            "--k",       "1",     "--list",        std::to_string(kList)};
  }
  /// Status and output of `farvec collection`.
  static std::pair<int, std::string> collection_command(const std::string& command,
                                                        const std::string& collection,
                                                        std::vector<std::string> options) {
    options.insert(options.begin(),
                   {program("farvec"), "collection", command, "--collection", collection});
    ChildProcess process(options);
    const auto status = process.wait(kPatience);
    return {status.value_or(-1), process.output()};
  }
  /// Of one insert.
  grpc::Status insert(std::uint64_t id) const {
    wire::InsertRequest request;
    request.set_type(wire::ELEMENT_TYPE_F32);
    request.set_dimension(kDimension);
    request.add_ids(id);
    request.set_rows(bytes_of(Row(kDimension, 0.25F)));
    wire::InsertResponse response;
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + seconds(20));
    return wire::Collection::NewStub(channel)->Insert(&context, request, &response);
  }

  std::vector<std::string> node_options;  ///< of every memory node
  std::vector<std::unique_ptr<ChildProcess>> nodes;
};

}  // namespace farvec::tests
