#include "rpc/probe_counts.h"

#include "base/error.h"
#include "rpc/channel.h"
#include "rpc/compute_node.grpc.pb.h"
#include "rpc/status.h"

namespace farvec::rpc {
namespace {

namespace v1 = compute_node::v1;

/// Enough for the counts of a hundred million clusters.
constexpr int kMaxMessageBytes = 1 << 30;

}  // namespace

v1::ProbeCountsResponse ask_probe_counts(const Address& node, const ProbeCountsCall& call) {
  ConnectOptions connect_options;
  connect_options.wait = call.wait;
  connect_options.await_listener = false;
  connect_options.max_message_bytes = kMaxMessageBytes;
  connect_options.tls = call.tls;
  const auto stub = v1::ComputeNode::NewStub(connect(node, connect_options));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + call.wait);
  v1::ProbeCountsRequest request;
  if (call.segment) request.set_segment(*call.segment);
  v1::ProbeCountsResponse response;
  const grpc::Status status = stub->ProbeCounts(&context, request, &response);
  if (!status.ok()) throw Error("compute node {}: {}", to_string(node), describe(status));
  return response;
}

}  // namespace farvec::rpc
