// Leases on a log, through the control plane.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "memory_node/service.h"
#include "rpc/channel.h"
#include "rpc/server.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::memory_node {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class AttachLogTest : public testing::Test {
 protected:
  void serve(bool has_log, std::chrono::milliseconds lease = 60s) {
    state_ = std::make_unique<NodeState>(4, lease);
    publisher_ = std::make_unique<Publisher>(*state_, PublisherOptions());
    service_ = std::make_unique<Service>(*state_, *publisher_,
                                         ServiceOptions{BackingKind::dram, {}, has_log});
    server_ = std::make_unique<rpc::Server>(
        rpc::ServerOptions{rpc::parse_address("unix:" + (folder_.path() / "node").string()),
                           false,
                           nullptr,
                           {service_.get()},
                           {}});
    stub_ = v1::MemoryNode::NewStub(rpc::connect(server_->address()));
  }
  void take_memory() {
    LogOptions options;
    options.bytes = 4096;
    options.paths.grant_path = "/nowhere";
    state_->log.set(std::make_shared<LogStore>(options, state_->leases));
    state_->state = v1::STATE_SERVING;
  }
  void TearDown() override { server_.reset(); }

  grpc::Status attach(v1::LogAccess access, std::uint64_t epoch_above = 0,
                      const std::string& writer_lease = {}) {
    v1::AttachLogRequest request;
    request.set_writer_lease(writer_lease);
    request.set_access(access);
    request.set_epoch_above(epoch_above);
    grpc::ClientContext context;
    return stub_->AttachLog(&context, request, &response_);
  }
  grpc::Status detach() {
    v1::DetachRequest request;
    request.set_lease_id(response_.attached().lease_id());
    v1::DetachResponse ignored;
    grpc::ClientContext context;
    return stub_->Detach(&context, request, &ignored);
  }
  v1::Log described() {
    v1::DescribeResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(stub_->Describe(&context, {}, &response).ok());
    return response.log();
  }

  tests::TemporaryFolder folder_;
  std::unique_ptr<NodeState> state_;
  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<v1::MemoryNode::Stub> stub_;
  v1::AttachLogResponse response_;
};

TEST_F(AttachLogTest, GrantsOneWriterAndManyReaders) {
  serve(true);
  take_memory();
  ASSERT_TRUE(attach(v1::LOG_READ).ok());
  EXPECT_EQ(response_.epoch(), 0u) << "nobody has written yet";
  EXPECT_FALSE(described().has_writer());
  ASSERT_TRUE(attach(v1::LOG_WRITE, 5).ok());
  EXPECT_EQ(response_.epoch(), 6u);
  ASSERT_EQ(response_.attached().regions_size(), 1);
  EXPECT_EQ(response_.attached().regions(0).kind(), "log");
  EXPECT_EQ(response_.attached().regions(0).bytes(), 4096u);
  EXPECT_EQ(response_.attached().mapped().socket_path(), "/nowhere");
  const auto writer = response_;

  const grpc::Status refused = attach(v1::LOG_WRITE);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("the log has a writer"));
  EXPECT_THAT(refused.error_message(), HasSubstr("ms"));
  ASSERT_TRUE(attach(v1::LOG_READ).ok());
  EXPECT_EQ(response_.epoch(), 6u);
  const v1::Log log = described();
  EXPECT_TRUE(log.has_writer());
  EXPECT_EQ(log.epoch(), 6u);
  EXPECT_EQ(log.bytes(), 4096u);
  EXPECT_EQ(log.generation(), writer.attached().generation());
  EXPECT_GT(log.writer_lease_ms(), 0u);

  response_ = writer;
  ASSERT_TRUE(detach().ok());
  ASSERT_TRUE(attach(v1::LOG_WRITE).ok()) << "the next one";
  EXPECT_EQ(response_.epoch(), 7u);
}

TEST_F(AttachLogTest, ASilentWritersLeaseEnds) {
  serve(true, 50ms);
  take_memory();
  ASSERT_TRUE(attach(v1::LOG_WRITE).ok());
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (!attach(v1::LOG_WRITE).ok() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(response_.epoch(), 2u);
  v1::StatsResponse stats;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->Stats(&context, {}, &stats).ok());
  EXPECT_EQ(stats.log().writer_leases_expired(), 1u);
}

TEST_F(AttachLogTest, ReadersKeepNoWriterOut) {
  serve(true);
  take_memory();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(attach(v1::LOG_READ).ok());
  for (int writer = 0; writer < 3; ++writer) {
    ASSERT_TRUE(attach(v1::LOG_WRITE).ok());
    const auto writes = response_;
    ASSERT_TRUE(attach(v1::LOG_READ, 0, writes.attached().lease_id()).ok())
        << "a writer reads back what is there";
    EXPECT_EQ(attach(v1::LOG_READ, 0, writes.attached().lease_id()).error_code(),
              grpc::StatusCode::RESOURCE_EXHAUSTED)
        << "once";
    response_ = writes;
    ASSERT_TRUE(detach().ok());
  }
  EXPECT_EQ(attach(v1::LOG_READ).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(attach(v1::LOG_READ, 0, response_.attached().lease_id()).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED)
      << "with a lease that has ended";
}

TEST_F(AttachLogTest, SaysWhyThereIsNoLease) {
  serve(false);
  EXPECT_EQ(attach(v1::LOG_READ).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(attach(v1::LOG_READ).error_message(), HasSubstr("--log-bytes"));
  server_.reset();
  serve(true);
  EXPECT_EQ(attach(v1::LOG_READ).error_code(), grpc::StatusCode::UNAVAILABLE) << "it starts";
  take_memory();
  EXPECT_EQ(attach(v1::LOG_WRITE, ~0ull).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(attach(static_cast<v1::LogAccess>(7)).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(attach(v1::LOG_READ).ok());
  EXPECT_THAT(attach(v1::LOG_READ).error_message(), HasSubstr("every lease is taken"));
  v1::AttachResponse index;
  grpc::ClientContext context;
  const grpc::Status none = stub_->Attach(&context, {}, &index);
  EXPECT_EQ(none.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(none.error_message(), HasSubstr("no index"));
}

}  // namespace
}  // namespace farvec::memory_node
