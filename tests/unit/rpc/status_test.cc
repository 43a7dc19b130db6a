#include "rpc/status.h"

#include <gtest/gtest.h>

#include "rpc/compute_node.grpc.pb.h"
#include "rpc/memory_node.grpc.pb.h"

namespace farvec::rpc {
namespace {

TEST(Status, EveryCodeOfOursSurvivesTheRoundTrip) {
  for (auto code :
       {StatusCode::ok, StatusCode::cancelled, StatusCode::invalid_argument,
        StatusCode::deadline_exceeded, StatusCode::not_found, StatusCode::permission_denied,
        StatusCode::resource_exhausted, StatusCode::failed_precondition, StatusCode::internal,
        StatusCode::unavailable, StatusCode::data_loss}) {
    EXPECT_EQ(to_status_code(to_grpc(code, "why").error_code()), code) << to_string(code);
  }
}

TEST(Status, MessageGoesAlongUnlessOk) {
  EXPECT_EQ(to_grpc(Status(StatusCode::unavailable, "gone")).error_message(), "gone");
  EXPECT_EQ(to_grpc(StatusCode::ok, "ignored").error_message(), "");
}

TEST(Status, ForeignCodesAreFolded) {
  EXPECT_EQ(to_status_code(grpc::StatusCode::OUT_OF_RANGE), StatusCode::invalid_argument);
  EXPECT_EQ(to_status_code(grpc::StatusCode::UNAUTHENTICATED), StatusCode::permission_denied);
  EXPECT_EQ(to_status_code(grpc::StatusCode::ABORTED), StatusCode::failed_precondition);
  EXPECT_EQ(to_status_code(grpc::StatusCode::UNIMPLEMENTED), StatusCode::internal);
}

TEST(Status, DescribesForPeople) {
  EXPECT_EQ(describe(grpc::Status::OK), "OK");
  EXPECT_EQ(describe({grpc::StatusCode::UNAVAILABLE, "refused"}), "UNAVAILABLE: refused");
  EXPECT_EQ(describe({grpc::StatusCode::UNAVAILABLE, ""}), "UNAVAILABLE");
  EXPECT_EQ(describe({grpc::StatusCode::PERMISSION_DENIED, "no"}), "PERMISSION_DENIED: no");
}

TEST(Protos, ServicesHaveTheirPublishedNames) {
  EXPECT_STREQ(compute_node::v1::ComputeNode::service_full_name(),
               "farvec.compute_node.v1.ComputeNode");
  EXPECT_STREQ(memory_node::v1::MemoryNode::service_full_name(),
               "farvec.memory_node.v1.MemoryNode");
}

}  // namespace
}  // namespace farvec::rpc
