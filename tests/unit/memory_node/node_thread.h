// A memory node on threads of the test's own process.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "memory_node/daemon.h"
#include "rpc/channel.h"
#include "rpc/memory_node.grpc.pb.h"
#include "tests/unit/collection/comes.h"

namespace farvec::tests {

/// Those of a node that readers attach to by `tier`, "shm" or "fabric:tcp".
inline memory_node::DaemonOptions node_options(const std::string& address,
                                               const std::string& tier) {
  memory_node::DaemonOptions options;
  options.listen = rpc::parse_address(address);
  options.quiet = true;
  options.threads = 1;
  options.drain = std::chrono::milliseconds(0);
  options.lease = std::chrono::seconds(20);
  if (tier == "fabric:tcp") {
    options.lease = std::chrono::seconds(4);  // by which a death is noticed: nothing hangs up
    options.fabric = "tcp:127.0.0.1";
  }
  return options;
}

/// It serves until it ends.
class NodeThread {
 public:
  explicit NodeThread(memory_node::DaemonOptions options) : options_(std::move(options)) {
    thread_ = std::thread([this] { memory_node::run_daemon(options_, stop_); });
    const auto channel =
        rpc::connect(options_.listen, {.wait = std::chrono::seconds(60), .tls = {}});
    EXPECT_TRUE(
        collection::comes([&] { return rpc::is_serving(channel, std::chrono::seconds(1)); }));
    stub_ = memory_node::v1::MemoryNode::NewStub(channel);
  }
  ~NodeThread() {
    stop_ = true;
    thread_.join();
  }
  NodeThread(const NodeThread&) = delete;
  NodeThread& operator=(const NodeThread&) = delete;

  std::uint64_t segment_bytes() const { return stats().segments().bytes(); }
  std::uint64_t leases() const { return stats().leases(); }
  memory_node::v1::StatsResponse stats() const {
    memory_node::v1::StatsResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(stub_->Stats(&context, {}, &response).ok());
    return response;
  }
  memory_node::v1::MemoryNode::Stub& stub() { return *stub_; }

 private:
  const memory_node::DaemonOptions options_;
  std::atomic<bool> stop_{false};
  std::unique_ptr<memory_node::v1::MemoryNode::Stub> stub_;
  std::thread thread_;
};

}  // namespace farvec::tests
