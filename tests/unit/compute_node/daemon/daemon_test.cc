#include "compute_node/daemon/daemon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <future>

#include "rpc/channel.h"
#include "rpc/compute_node.grpc.pb.h"
#include "tests/unit/compute_node/fake_backend.h"

namespace farvec::compute_node {
namespace {

struct Parsed {
  bool proceed = false;
  int exit_code = 0;
  DaemonOptions options;
};

Parsed parse(std::vector<const char*> words) {
  words.insert(words.begin(), "farvec-compute-node");
  Parsed parsed;
  parsed.proceed =
      parse_command_line(static_cast<int>(words.size()), const_cast<char**>(words.data()),
                         parsed.options, parsed.exit_code);
  return parsed;
}

TEST(DaemonOptionsService, ReadsFlags) {
  const Parsed parsed =
      parse({"--memory-node", "a:1", "--tier", "fabric:tcp", "--cache-bytes", "2MiB",
             "--attach-seconds", "0.5", "--queue", "7", "--max-list", "50"});
  ASSERT_TRUE(parsed.proceed);
  const auto& source = std::get<MemoryNodeSource>(parsed.options.source);
  EXPECT_EQ(source.nodes, "a:1");
  EXPECT_EQ(source.tier, "fabric:tcp");
  EXPECT_EQ(source.cache_bytes, 2u << 20);
  EXPECT_EQ(parsed.options.attach_bound, std::chrono::milliseconds(500));
  EXPECT_EQ(parsed.options.limits.max_queries, 7u);
  EXPECT_EQ(parsed.options.limits.default_list, 50u);
}

TEST(DaemonOptionsService, NeedsExactlyOneSource) {
  EXPECT_EQ(parse({}).exit_code, 2);
  EXPECT_EQ(parse({"--memory-node", "a:1", "--index", "d"}).exit_code, 2);
  EXPECT_EQ(parse({"--index", "d", "--threads", "0"}).exit_code, 2);
  EXPECT_FALSE(parse({"--help"}).proceed);
  EXPECT_EQ(parse({"--version"}).exit_code, 0);
}

/// The daemon's signals, as main() does: before any thread of any test exists.
bool block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return pthread_sigmask(SIG_BLOCK, &signals, nullptr) == 0;
}
const bool kSignalsBlocked = block_signals();

struct DaemonService : testing::Test {
  FakeControls controls;
  FakeBackend backend{controls};
  DaemonOptions options;

  DaemonService() {
    EXPECT_TRUE(kSignalsBlocked);
    options.listen = "unix:" + testing::TempDir() + "farvec-daemon-" + std::to_string(getpid());
  }
};

TEST_F(DaemonService, DrainsOnSigtermAndEndsWell) {
  auto running = std::async(std::launch::async, [&] { return run_daemon(options, backend); });
  const auto channel = rpc::connect(rpc::parse_address(options.listen));
  ASSERT_TRUE(eventually([&] { return rpc::is_serving(channel, std::chrono::seconds(1)); }));
  controls.hold = true;
  auto call = std::async(std::launch::async, [&] {
    v1::SearchRequest request;
    request.set_type(v1::ELEMENT_TYPE_F32);
    request.set_dimension(3);
    request.set_k(1);
    request.add_queries(std::string(12, '\0'));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    v1::SearchResponse response;
    return v1::ComputeNode::NewStub(channel)->Search(&context, request, &response);
  });
  ASSERT_TRUE(eventually([&] { return controls.begun == 1; }));
  kill(getpid(), SIGTERM);
  ASSERT_TRUE(eventually([&] { return !rpc::is_serving(channel, std::chrono::seconds(1)); }));
  controls.hold = false;
  EXPECT_EQ(running.get(), 0);
  const grpc::Status status = call.get();
  EXPECT_TRUE(status.ok()) << "it was admitted: " << status.error_message();
}

TEST_F(DaemonService, HealthFollowsTheMemoryNode) {
  auto running = std::async(std::launch::async, [&] { return run_daemon(options, backend); });
  const auto channel = rpc::connect(rpc::parse_address(options.listen));
  const std::chrono::seconds second(1);
  ASSERT_TRUE(eventually([&] { return rpc::is_serving(channel, second); }));
  controls.reachable = false;
  controls.alive = false;
  EXPECT_TRUE(eventually([&] { return !rpc::is_serving(channel, second); }));
  controls.reachable = true;
  EXPECT_TRUE(eventually([&] { return rpc::is_serving(channel, second); }));
  kill(getpid(), SIGTERM);
  EXPECT_EQ(running.get(), 0);
}

TEST_F(DaemonService, SaysWhomItWaitedFor) {
  controls.reachable = false;
  options.attach_bound = std::chrono::milliseconds(10);
  try {
    run_daemon(options, backend);
    FAIL() << "it began without an index";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("memory node nowhere:1"));
  }
}

TEST_F(DaemonService, RefusesAnAddressThatOthersCanReach) {
  options.listen = "0.0.0.0:0";
  EXPECT_THROW(run_daemon(options, backend), Error);
  options.listen = "127.0.0.1:0";
  options.metrics = "0.0.0.0:9";
  EXPECT_THROW(run_daemon(options, backend), Error);
}

}  // namespace
}  // namespace farvec::compute_node
