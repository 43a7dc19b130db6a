// A memory node without a daemon: service, publisher and what is in memory.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "memory_node/publisher.h"
#include "memory_node/service.h"
#include "rpc/channel.h"
#include "rpc/server.h"
#include "tests/unit/layout/index/index_fixture.h"

namespace farvec::memory_node {

class ServedNode : public testing::Test {
 protected:
  ServedNode() {
    options_.load.quiet = true;
    options_.load.threads = 1;
    options_.paths.grant_path = folder_.path() / "grant";
  }
  void make(ServiceOptions options) {
    publisher_ = std::make_unique<Publisher>(state_, options_);
    service_ = std::make_unique<Service>(state_, *publisher_, std::move(options));
  }
  /// The stub calls it from then on.
  void serve() {
    state_.state = v1::STATE_SERVING;
    server_ = std::make_unique<rpc::Server>(
        rpc::ServerOptions{rpc::parse_address(listen_), false, nullptr, {service_.get()}, {}});
    stub_ = v1::MemoryNode::NewStub(rpc::connect(server_->address()));
  }
  void detach(const v1::AttachResponse& lease) const {
    v1::DetachRequest request;
    request.set_lease_id(lease.lease_id());
    v1::DetachResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(stub_->Detach(&context, request, &response).ok());
  }
  v1::StatsResponse stats() const {
    v1::StatsResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(stub_->Stats(&context, {}, &response).ok());
    return response;
  }

  layout::TemporaryFolder folder_;
  std::string listen_ = "unix:" + (folder_.path() / "node").string();
  PublisherOptions options_;
  NodeState state_{8, std::chrono::seconds(60)};
  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<v1::MemoryNode::Stub> stub_;
};

}  // namespace farvec::memory_node
